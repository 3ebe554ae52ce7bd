# The page of a run: the same bytes however it is made, and what is refused.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o arena --matches-only --cameras 12 --quiet >/dev/null
sqlite3 arena/database.db "UPDATE images SET name = 'x</script><script>alert(1)</script>.jpg' WHERE image_id = 3;" ||
    exit 77
"$planarsfm" reconstruct arena/database.db -o one --threads 1 --quiet >/dev/null 2>&1
[ -s one/report.html ] || fail "no report"
cp one/report.html first.html
"$planarsfm" report one --threads 2 --quiet | grep -q "one/report.html" || fail "the page is not named"
cmp first.html one/report.html || fail "rebuilding changes the page"
cp arena/database.db second.db
"$planarsfm" reconstruct second.db -o two --threads 2 --quiet >/dev/null 2>&1
cmp one/graph.json two/graph.json || fail "graph.json depends on the threads"
cp one/summary.json two/summary.json # its times are the only difference
"$planarsfm" report two --quiet >/dev/null
cmp first.html two/report.html || fail "the page depends on the threads"

# Only our own scripts, and nothing from elsewhere.
scripts=$(grep -o '<script' first.html | wc -l)
[ "$scripts" -le 4 ] || fail "$scripts scripts in the page"
if grep -o 'alert(1)</script' first.html; then fail "a name was taken for HTML"; fi
if grep -E -o '<(link|script|img|iframe)[^>]* (src|href)="?(http|//)[^>]*' first.html; then fail "the page loads something"; fi

"$planarsfm" reconstruct arena/database.db -o one --no-report --quiet >/dev/null 2>&1
[ ! -e one/report.html ] || fail "a page of an earlier run stayed"
"$planarsfm" reconstruct arena/database.db -o one --mode paper --quiet >/dev/null 2>&1
[ -s one/report.html ] || fail "no report in paper mode"

refuses 1 "no such folder" "$planarsfm" report nowhere
refuses 1 "graph.json" "$planarsfm" report arena
refuses 1 "no such folder of photographs" "$planarsfm" report one --images nowhere
mkdir broken && cp -r one/model one/summary.json broken
head -c 1000 one/graph.json >broken/graph.json
refuses 1 "graph.json: not JSON" "$planarsfm" report broken
cp one/graph.json broken
echo '{"images": []}' >broken/summary.json
refuses 1 "not those of graph.json" "$planarsfm" report broken
cp one/summary.json broken
sed -i 's/cam_0001/cam_9999/' broken/model/0/images.txt
refuses 1 "is not in summary.json" "$planarsfm" report broken
cp -r one/model broken
chmod u-w broken
if ! touch broken/probe 2>/dev/null; then
    refuses 1 "report.html" "$planarsfm" report broken
fi
chmod u+w broken
