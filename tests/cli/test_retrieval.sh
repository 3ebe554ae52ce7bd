# Pairs by likeness: photographs of a field flown in rows, whose names are in no order.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth field -o field --cameras 20 --render.width 320 --quiet >/dev/null
names=$(cd field/images && ls)
pairs_of() { # DATABASE [ROWS]: names of the pairs, with so many matches and more
    sqlite3 "$1" "SELECT a.name || ' ' || b.name FROM matches m JOIN images a ON a.image_id = m.pair_id / 2147483647
        JOIN images b ON b.image_id = m.pair_id % 2147483647 WHERE m.rows >= ${2:-0}"
}
matched() { pairs_of "$1" 20 | awk '{ print ($1 < $2) ? $1 " " $2 : $2 " " $1 }' | LC_ALL=C sort; }
tried() { sqlite3 "$1" "SELECT count(*) FROM matches"; }

"$planarsfm" extract field/images -o all --cameras field/gt --quiet >/dev/null
mkdir -p few again
cp all/database.db few/database.db
cp all/database.db again/database.db
"$planarsfm" match all/database.db --pairs exhaustive --quiet >/dev/null
"$planarsfm" match few/database.db --pairs retrieval:6 --pairs.expand off --threads 1 --quiet >few.txt
"$planarsfm" match again/database.db --pairs retrieval:6 --pairs.expand off --threads 2 --quiet >/dev/null
grep -q 'retrieval:6' few.txt || fail "the rule is not said: $(cat few.txt)"
[ "$(tried few/database.db)" -le 120 ] || fail "$(tried few/database.db) pairs of 190 were tried"
diff <(matched few/database.db) <(matched again/database.db) >/dev/null || fail "threads change the pairs"
total=$(matched all/database.db | wc -l) found=$(matched few/database.db | wc -l) num=$(tried few/database.db)
[ $((100 * found)) -ge $((90 * num)) ] || fail "only $found of $num pairs by likeness match"
[ $((100 * total)) -le $((80 * 190)) ] || fail "$total of all 190 pairs match: nothing to choose"

# Pairs by common neighbours: more of those that match, the same for any number of threads and in two steps.
mkdir -p more
cp all/database.db more/database.db
sqlite3 more/database.db 'DELETE FROM matches; DELETE FROM planarsfm_matches; DELETE FROM planarsfm_verified'
"$planarsfm" match more/database.db --pairs retrieval:3 --threads 2 --quiet >more.txt
grep -q 'by common neighbours' more.txt || fail "no pair was added: $(cat more.txt)"
cp few/database.db fewer.db
sqlite3 fewer.db 'DELETE FROM matches; DELETE FROM planarsfm_matches; DELETE FROM planarsfm_verified'
"$planarsfm" match fewer.db --pairs retrieval:3 --pairs.expand off --threads 1 --quiet >/dev/null
[ "$(matched more/database.db | wc -l)" -gt "$(matched fewer.db | wc -l)" ] || fail "what was added does not match"
"$planarsfm" match fewer.db --pairs retrieval:3 --threads 1 --quiet >/dev/null
diff <(pairs_of more/database.db | LC_ALL=C sort) <(pairs_of fewer.db | LC_ALL=C sort) >/dev/null || fail "pairs are added in another way"

# Other names, other order: the same photographs are paired.
mkdir renamed
k=0
for name in $(tac <<<"$names"); do
    k=$((k + 1))
    ln field/images/"$name" "renamed/$(printf 'p%03d' $k).jpg"
    echo "$(printf 'p%03d' $k).jpg $name"
done >names.txt
"$planarsfm" extract renamed -o other --quiet >/dev/null
"$planarsfm" match other/database.db --pairs retrieval:6 --pairs.expand off --quiet >/dev/null
pairs_of other/database.db | awk 'NR == FNR { old[$1] = $2; next } { print (old[$1] < old[$2]) ? old[$1] " " old[$2] : old[$2] " " old[$1] }' names.txt - |
    LC_ALL=C sort >other.txt
pairs_of few/database.db | awk '{ print ($1 < $2) ? $1 " " $2 : $2 " " $1 }' | LC_ALL=C sort >own.txt
diff own.txt other.txt >/dev/null || fail "names change which photographs are paired"

# Pairs by place: one photograph without GPS, one with a wrong position; neither is lost.
if command -v /usr/bin/python3 >/dev/null; then
    mkdir placed
    /usr/bin/python3 "$(dirname "$0")/place_photos.py" field placed
    "$planarsfm" extract placed -o gps --cameras field/gt --quiet >/dev/null
    [ "$(sqlite3 gps/database.db 'SELECT count(*) FROM planarsfm_places')" = 19 ] || fail "positions were not read"
    "$planarsfm" match gps/database.db --pairs gps:4+retrieval:2 >gps.txt 2>gps.err
    grep -q 'gps:4+retrieval:2' gps.txt || fail "the rule is not said: $(cat gps.txt)"
    grep -q '19 of 20 images tell where' gps.err || fail "what is known is not said: $(cat gps.err)"
    [ "$(matched gps/database.db | tr ' ' '\n' | LC_ALL=C sort -u | wc -l)" = 20 ] || fail "a photograph has no pair"
    first=$(head -n 1 <<<"$names")
    "$planarsfm" match gps/database.db --pairs gps:4 --pairs.expand off --quiet >/dev/null
    matched gps/database.db | grep -q "$first" || fail "a photograph without a position has no pair"
fi

! "$planarsfm" match few/database.db --pairs retrieval:0 --quiet 2>bad.txt || fail "retrieval:0 is taken"
grep -q "1 or more" bad.txt || fail "retrieval:0: $(cat bad.txt)"

# No images, one image, an image without features, descriptors of two sizes.
sqlite3 few/database.db 'DELETE FROM matches; DELETE FROM planarsfm_matches'
cp few/database.db bad.db
sqlite3 bad.db "UPDATE keypoints SET rows = 0, data = NULL WHERE image_id = 2; UPDATE descriptors SET rows = 0, data = NULL WHERE image_id = 2"
"$planarsfm" match bad.db --pairs retrieval:3 --quiet >/dev/null || fail "an image without features ends the matching"
[ "$(sqlite3 bad.db 'SELECT count(*) FROM matches')" -gt 20 ] || fail "an image without features costs the others their pairs"
for left in 1 0; do
    cp few/database.db bad.db
    sqlite3 bad.db "DELETE FROM images WHERE image_id > $left; DELETE FROM keypoints WHERE image_id > $left;
        DELETE FROM descriptors WHERE image_id > $left; DELETE FROM planarsfm_photos WHERE image_id > $left"
    ! "$planarsfm" match bad.db --pairs retrieval:3 --quiet 2>bad.txt || fail "$left images are matched"
    grep -q "pairs need at least two" bad.txt || fail "$left images: $(cat bad.txt)"
done
