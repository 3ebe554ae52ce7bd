# bench/golden says "same" of the build that made a record, wherever and on however many threads it runs, and names what
# differs otherwise.
set -euo pipefail
golden=$(realpath "$(dirname "$0")/../bench/golden")
source "$(dirname "$0")/cli/lib.sh"

compare() { # ROWS [options]: prints what golden says, and its exit status
    local code=0
    "$golden" compare record --planarsfm "$planarsfm" --rows "$@" || code=$?
    echo "exit status $code"
}

rows='made/(cameras-3|ablate)$|model/align'
"$golden" record record --planarsfm "$planarsfm" --rows "$rows" >log
grep -q "3 rows in record" log || fail "record: $(cat log)"
mkdir elsewhere
TMPDIR=$PWD/elsewhere compare "$rows" --threads 3 >log
grep -q "3 rows: 3 the same, 0 differ, 0 not compared" log || fail "the same build: $(cat log)"
grep -q "exit status 0" log || fail "the same build: $(cat log)"

# a hash of one part, an option's value and an option that is gone are told apart
spoiled='made/cameras-3$'
sed -i '/^row made.cameras-3 /,/^row/ s/^  [0-9a-f]* model$/  000000000000 model/' record
compare "$spoiled" >log
grep -q "differs: model$" log && grep -q "exit status 1" log || fail "another model: $(cat log)"
"$golden" record record --planarsfm "$planarsfm" --rows "$spoiled" >log
sed -i '/^options/ { s/:true/:false/; s/{/{"no.such":1,/ }' record
compare "$spoiled" >log
grep -q "differs: --.* False -> True (1 options gone)" log || fail "options: $(cat log)"

# rows that one side lacks are named, and nothing compared is no success
sed -i 's/^row made.cameras-3 /row made\/no-such-row /' record
compare 'made/(cameras-3|no-such-row)$' >log
grep -q "no-such-row .*not compared" log && grep -q "cameras-3 .*not in the record" log || fail "missing rows: $(cat log)"
grep -q "exit status 1" log || fail "nothing compared: $(cat log)"

"$golden" compare --against "$planarsfm" --planarsfm "$planarsfm" --rows "$spoiled" --keep kept >log ||
    fail "beside itself: $(cat log)"
cmp kept/made.cameras-3/out/planes.json kept/made.cameras-3.then/out/planes.json
