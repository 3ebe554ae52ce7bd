# Matches of other programs: a list of our own matches gives the poses back.
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }

"$planarsfm" synth arena -o scene --matches-only --cameras 6 --points 400 --quiet >/dev/null
"$planarsfm" reconstruct scene/database.db -o before --quiet >/dev/null

# The matches as text, by way of SQLite's hexadecimal: little-endian 32-bit pairs.
sqlite3 scene/database.db "SELECT a.name, b.name, hex(m.data) FROM matches m
    JOIN images a ON a.image_id = (m.pair_id - m.pair_id % 2147483647) / 2147483647
    JOIN images b ON b.image_id = m.pair_id % 2147483647" |
    awk -F'|' 'function value(at) { return number(at) + 256 * number(at + 2) + 65536 * number(at + 4) }
        function number(at) { return 16 * index(digits, substr($3, at, 1)) + index(digits, substr($3, at + 1, 1)) - 17 }
        BEGIN { digits = "0123456789ABCDEF" }
        { print $1, $2; for (k = 1; k < length($3); k += 16) print value(k), value(k + 8); print "" }' >list.txt
for type in raw inliers; do
    cp scene/database.db "$type.db"
    sqlite3 "$type.db" "DELETE FROM matches; DELETE FROM two_view_geometries"
    [ "$type" = raw ] || sqlite3 "$type.db" "DROP TABLE two_view_geometries" # is made where it is missing
    "$planarsfm" import-matches "$type.db" list.txt --type "$type" --quiet >"$type.txt"
    "$planarsfm" reconstruct "$type.db" -o "$type" --quiet >/dev/null
    diff -r before/model "$type/model" || fail "the matches changed on their way through text ($type)"
done
[ "$(sqlite3 raw.db 'SELECT COUNT(*) FROM two_view_geometries')" = 0 ] || fail "raw matches are verified"
[ "$(sqlite3 inliers.db 'SELECT COUNT(*) FROM matches')" = 0 ] || fail "inliers are raw"

# The verification for COLMAP's mappers: on request, and never over matches that are nowhere else.
"$planarsfm" reconstruct raw.db -o again --geometries --quiet >/dev/null
diff -r before/model again/model || fail "--geometries changed the model"
[ "$(sqlite3 raw.db 'SELECT COUNT(*) FROM two_view_geometries WHERE rows > 20 AND config IN (2, 4)')" -gt 0 ] ||
    fail "no geometry was written"
sum() { sqlite3 inliers.db 'SELECT SUM(rows) FROM two_view_geometries'; }
before=$(sum)
refuses 1 "matches only there" "$planarsfm" reconstruct inliers.db -o again --geometries
[ "$(sum)" = "$before" ] || fail "inliers were replaced"

refuses 1 "line 3" "$planarsfm" import-matches raw.db scene/gt/cameras.txt
refuses 2 "raw or inliers" "$planarsfm" import-matches raw.db list.txt --type pairs
refuses 1 "nowhere" "$planarsfm" import-matches nowhere.db list.txt
refuses 2 "--cameras" "$planarsfm" import-hloc list.txt list.txt -o new.db
refuses 1 "HDF5" "$planarsfm" import-hloc list.txt list.txt -o new.db --cameras scene/gt
refuses 2 "there already" "$planarsfm" import-hloc list.txt list.txt -o raw.db --cameras scene/gt
refuses 2 "from 0 to 1" "$planarsfm" import-hloc list.txt list.txt -o new.db --min-score 2
[ -z "$(find . -name 'new.db*')" ] || fail "a failed import left $(find . -name 'new.db*')"

# Points named by hand: a database of its own, never over another one.
printf 'p a.jpg 10 20\nq a.jpg 30 40\np b.jpg 50 60\n' >named.txt
camera="PINHOLE,100,80,50,50,50,40"
"$planarsfm" import-points named.txt -o named --camera "$camera" >/dev/null
[ "$(sqlite3 named/database.db 'SELECT SUM(rows) FROM matches')" = 1 ] || fail "one label is in both images"
refuses 1 "is there already" "$planarsfm" import-points named.txt -o named --camera "$camera"
refuses 2 "--cameras" "$planarsfm" import-points named.txt -o other
printf 'p a.jpg 10 nan\n' >bad.txt
refuses 1 "bad.txt: line 1" "$planarsfm" import-points bad.txt -o other --camera "$camera"
: >empty.txt
refuses 1 "empty.txt" "$planarsfm" import-points empty.txt -o other --camera "$camera"
[ ! -e other/database.db ] || fail "a refused import leaves a database"
