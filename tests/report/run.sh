# The report in headless Chromium: run.sh PLANARSFM SCRATCH. Exit code 77: skipped, with the reason.
here=$(cd "$(dirname "$0")" && pwd)
modules=$(dirname "$2")/report_modules
mkdir -p "$modules"
source "$here/playwright.sh" "$modules"
if [ -n "$missing" ]; then
    echo "SKIPPED, the report is not tested in a browser: $missing"
    exit 77
fi
source "$here/../cli/lib.sh"
if ! "$planarsfm" doctor | grep -q '^3D in reports: yes'; then
    echo "SKIPPED, built without three.js"
    exit 77
fi

# Photographs; matches with false pairs, one image cut off, one with a hostile name; the published
# method; nothing at all.
"$planarsfm" synth field -o field --cameras 6 --render.width 320 --quiet >/dev/null
"$planarsfm" run field/images --cameras field/gt -o photos --quiet >/dev/null
"$planarsfm" synth arena -o arena --matches-only --cameras 24 --duplicates 0.2 --quiet >/dev/null
sqlite3 arena/database.db "DELETE FROM matches WHERE pair_id / 2147483647 = 5 OR pair_id % 2147483647 = 5;
    UPDATE images SET name = '</script><img src=x onerror=alert(1)>&\"''.jpg' WHERE image_id = 2;"
"$planarsfm" reconstruct arena/database.db -o matches --quiet >/dev/null
"$planarsfm" reconstruct arena/database.db -o paper --mode paper --quiet >/dev/null
sqlite3 arena/database.db "DELETE FROM matches;"
"$planarsfm" reconstruct arena/database.db -o nothing --quiet >/dev/null 2>&1 || true

# A chain that hangs on single pairs.
"$planarsfm" synth facade -o walk --matches-only --cameras 8 --neighbours 1 --quiet >/dev/null
"$planarsfm" reconstruct walk/database.db -o chain --quiet >/dev/null

# The chain in the world, one position wrong; beside the truth; the truth alone.
awk '!/^#/ && NF == 10 {
    w = $2; x = $3; y = $4; z = $5; a = $6; b = $7; c = $8
    print $10, -((1-2*(y*y+z*z))*a + 2*(x*y+z*w)*b + 2*(x*z-y*w)*c) + ($10 == "cam_0003.jpg" ? 99 : 0), \
               -(2*(x*y-z*w)*a + (1-2*(x*x+z*z))*b + 2*(y*z+x*w)*c), \
               -(2*(x*z+y*w)*a + 2*(y*z-x*w)*b + (1-2*(x*x+y*y))*c)
}' walk/gt/images.txt >positions.txt
"$planarsfm" align chain -o metric --positions positions.txt --quiet >/dev/null
"$planarsfm" report chain walk/gt -o two.html --quiet >/dev/null
"$planarsfm" report walk/gt --quiet >/dev/null

# Without three.js at build time its script is missing.
awk '/^<script id="three">/ { skip = 1 } !skip { print } skip && /<\/script>$/ { skip = 0 }' photos/report.html >no_three.html
[ "$(wc -c <no_three.html)" -lt "$(wc -c <photos/report.html)" ] || fail "three.js was not cut out"

for test in report tools worlds; do
    node "$here/${test}_test.mjs" "$scratch"
done
