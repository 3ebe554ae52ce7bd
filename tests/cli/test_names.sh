# One photograph that cannot be used does not cost the others their poses, and what is wrong with
# the arguments is said before any work.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/photos.sh"
cameras="--cameras ring/gt"
mapfile -t photos < <(ls ring/images)
line=$'new\nline.jpg'

# Names that text files cannot keep.
cp -r ring/images strange
cp "ring/images/${photos[0]}" "strange/ blank.jpg"
cp "ring/images/${photos[0]}" "strange/$line"
camera=$(grep -v '^#' ring/gt/cameras.txt | head -1 | cut -d' ' -f2- | tr ' ' ',')
"$planarsfm" run strange --camera "$camera" --pairs ring:2 -o out --json --quiet >out.json 2>out.err
[ "$(number out.json images_posed)" = "$num_photos" ] || fail "not all others are posed"
grep -q "left out: strange/ blank.jpg: its name begins" out.err || fail "no warning: $(cat out.err)"
[ "$(grep -cE "left out|there twice" out.err)" = "$(wc -l <out.err)" ] || fail "a name broke a line: $(cat out.err)"
# A database with such a name, too.
if command -v sqlite3 >/dev/null; then
    "$planarsfm" synth arena -o arena --cameras 6 --matches-only --quiet >/dev/null
    sqlite3 arena/database.db "UPDATE images SET name = ' x' || char(10) || 'y' WHERE image_id = 3"
    "$planarsfm" reconstruct arena/database.db -o arena/out --quiet >/dev/null 2>arena.err
    [ "$(number arena/out/summary.json images_posed)" = 5 ] || fail "not five of six: $(cat arena.err)"
    grep -q "is left out: its name" arena.err || fail "no warning of the database's image"
fi

# A size that is not the camera's: that photograph is left out, before any work.
cp -r ring/images mixed
"$planarsfm" synth field -o small --cameras 3 --render.width 320 --quiet >/dev/null
cp "small/images/$(ls small/images | head -1)" "mixed/zz.jpg"
"$planarsfm" run mixed --camera "$camera" --pairs ring:2 -o sized --json --quiet >sized.json 2>sized.err
grep -q "left out: zz.jpg: the photograph has 320" sized.err || fail "no warning of the size: $(cat sized.err)"
[ "$(number sized.json images_posed)" = "$num_photos" ] || fail "not all others are posed beside a small one"
# A photograph that the cameras do not know, too.
"$planarsfm" run mixed $cameras --pairs ring:2 -o known --json --quiet >known.json 2>known.err
grep -q "left out: ring/gt: no image is called zz.jpg" known.err || fail "no warning of the camera: $(cat known.err)"
[ "$(number known.json images_posed)" = "$num_photos" ] || fail "not all others are posed beside an unknown one"
# Pairs with a photograph that is left out are left out.
printf '%s %s\n' "${photos[0]}" "${photos[1]}" "${photos[1]}" "${photos[2]}" "${photos[2]}" zz.jpg "${photos[0]}" "${photos[2]}" >pairs.txt
"$planarsfm" run mixed --camera "$camera" --pairs file:pairs.txt -o sized --json --quiet >sized.json 2>/dev/null
[ "$(number sized.json pairs_from_matches)" = 3 ] || fail "not three of four pairs"

# Wrong pairs are refused before extraction.
refuses 2 "pairs 'rinf:2'" "$planarsfm" run ring/images $cameras --pairs rinf:2 -o none --quiet
refuses 1 "none.txt" "$planarsfm" run ring/images $cameras --pairs file:none.txt -o none --quiet
echo "${photos[0]} nobody.jpg" >bad.txt
refuses 1 "bad.txt" "$planarsfm" run ring/images $cameras --pairs file:bad.txt -o none --quiet
[ ! -e none ] || fail "something was done before the pairs were looked at"

# Masks that belong to no photograph; photographs that are none.
mkdir masks && : >masks/a.png
"$planarsfm" extract ring/images $cameras --masks masks -o masked --quiet >/dev/null 2>masked.err
grep -q "masks: no mask of any photograph" masked.err || fail "no word about the masks"
mkdir broken && head -c 600 "ring/images/${photos[0]}" >"broken/${photos[0]}"
refuses 1 "none of its photographs could be read" "$planarsfm" extract broken $cameras -o broken_out --quiet
