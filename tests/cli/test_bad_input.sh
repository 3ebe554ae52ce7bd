# Bad input: one sentence that names the file, a non-zero exit, nothing half-written.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o good --matches-only --cameras 6 --points 300 --quiet

refuses 1 "missing.db" "$planarsfm" reconstruct missing.db -o out
: >empty.db
refuses 1 "empty.db" "$planarsfm" reconstruct empty.db -o out
head -c 20000 /dev/urandom >noise.db
refuses 1 "noise.db" "$planarsfm" reconstruct noise.db -o out
head -c 30000 good/database.db >truncated.db
refuses 1 "truncated.db" "$planarsfm" reconstruct truncated.db -o out
mkdir folder.db
refuses 1 "folder.db" "$planarsfm" reconstruct folder.db -o out
[ ! -e out ] || fail "a failed run left $(find out)"

refuses 1 "nowhere" "$planarsfm" eval nowhere good/gt
refuses 1 "nowhere" "$planarsfm" eval good/gt nowhere
cp -r good/gt broken
head -c 2000 good/gt/images.txt >broken/images.txt
refuses 1 "broken/" "$planarsfm" eval broken good/gt
sed 's/PINHOLE/SPHERE/' good/gt/cameras.txt >broken/cameras.txt
cp good/gt/images.txt broken/images.txt
refuses 1 "cameras.txt" "$planarsfm" eval broken good/gt

if command -v sqlite3 >/dev/null; then
    change() { # NAME SQL: a copy of the good database with a change
        cp good/database.db "$1"
        sqlite3 "$1" "$2"
    }
    change no_table.db "DROP TABLE keypoints"
    refuses 1 "no_table.db.*keypoints" "$planarsfm" reconstruct no_table.db -o out
    change no_camera.db "DELETE FROM cameras"
    refuses 1 "no_camera.db" "$planarsfm" reconstruct no_camera.db -o out
    change short.db "UPDATE keypoints SET data = x'00' WHERE image_id = 2"
    refuses 1 "short.db" "$planarsfm" reconstruct short.db -o out
    [ ! -e out ] || fail "a failed run left $(find out)"

    # Nothing to compute from: a reason for every image, exit code 1, no model.
    change no_matches.db "DELETE FROM matches; DELETE FROM two_view_geometries"
    refuses 1 "planarsfm match" "$planarsfm" reconstruct no_matches.db -o reasons
    [ "$(grep -c no_matches reasons/summary.json)" = 6 ] || fail "six images without matches"
    [ ! -e reasons/model ] || fail "a model without poses"
    change no_images.db "DELETE FROM images; DELETE FROM keypoints; DELETE FROM matches"
    refuses 1 "no_images.db" "$planarsfm" reconstruct no_images.db -o none
    change one_image.db "DELETE FROM images WHERE image_id > 1; DELETE FROM keypoints WHERE image_id > 1; DELETE FROM matches"
    refuses 1 "no two images have matches" "$planarsfm" reconstruct one_image.db -o one
else
    echo "sqlite3 is not installed: changed databases are not tried"
fi

# A read-only place for the results, unless the tests run as root, whom nothing stops.
if [ "$(id -u)" -ne 0 ]; then
    mkdir sealed && chmod a-w sealed
    refuses 1 "sealed" "$planarsfm" reconstruct good/database.db -o sealed/out
fi
: >file
refuses 1 "file" "$planarsfm" reconstruct good/database.db -o file/out
