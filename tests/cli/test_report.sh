# Pages of a run, of a model alone, and of two.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o arena --matches-only --cameras 6 --points 200 --quiet >/dev/null
"$planarsfm" reconstruct arena/database.db -o out --quiet >/dev/null
cp out/report.html first.html
"$planarsfm" report out --quiet >/dev/null
cmp first.html out/report.html || fail "the same files give other bytes"

# A model alone, as text and as COLMAP's binary files.
"$planarsfm" report arena/gt --quiet >/dev/null
grep -q '"isBare":true' arena/gt/report.html || fail "a model alone is not known as one"
"$planarsfm" convert arena/gt --to colmap-bin -o binary --quiet >/dev/null
"$planarsfm" report binary --quiet >/dev/null
cmp arena/gt/report.html binary/report.html || fail "text and binary models give different pages"

# Two runs; a folder's name is text.
mkdir '<b>x'
cp arena/gt/*.txt '<b>x'
"$planarsfm" report out '<b>x' --quiet >/dev/null
grep -q '"comparison":' out/comparison.html || fail "nothing is compared"
grep -q '<b>x' out/comparison.html && fail "the name of a folder is read as HTML"
"$planarsfm" report out '<b>x' -o both.html --threads 3 --quiet >/dev/null
cmp both.html out/comparison.html || fail "the page depends on its name or on threads"

# What cannot be done is said, and leaves nothing.
refuses 2 "not 3" "$planarsfm" report out out out
refuses 2 "two runs" "$planarsfm" report out -o one.html
refuses 1 "no such folder" "$planarsfm" report out nowhere
mkdir others empty
for file in cameras points3D; do cp arena/gt/$file.txt others; done
sed 's/cam_/other_/' arena/gt/images.txt >others/images.txt
refuses 1 "no image" "$planarsfm" report out others -o none.html
[ ! -e none.html ] || fail "a page without a comparison"
"$planarsfm" report empty >/dev/null 2>&1 && fail "an empty folder has a page"
[ ! -e empty/report.html ] || fail "an empty folder has a page"
