# A run on photographs that is killed at any call that changes files, and started again, ends with
# the same bytes, the contents of the database included. FAULT_STEP=1 tries every call; photographs
# of a WIDTH of 128 pixels make that a matter of minutes.
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
need_faults "$3"
"$planarsfm" synth field -o ring --cameras 4 --render.width "${WIDTH:-320}" --quiet >/dev/null 2>synth.err && [ -d ring/images ] ||
    { echo "no rendered photographs: $(cat synth.err)"; exit 77; }
run=("$planarsfm" run ring/images --cameras ring/gt --quiet --threads 1 --no-report)
"${run[@]}" -o whole >/dev/null
sqlite3 whole/database.db .dump >whole.sql

FAULT_COUNT=count.txt LD_PRELOAD=$preload "${run[@]}" -o out >/dev/null
read -r num <count.txt
step=${FAULT_STEP:-$((num / 25 + 1))} killed=0
for ((n = 1 + step / 2; n <= num; n += step)); do
    rm -rf out
    (FAULT_IO=$n FAULT_KIND=kill LD_PRELOAD=$preload "${run[@]}" -o out; exit $?) >/dev/null 2>&1 && continue
    killed=$((killed + 1))
    "${run[@]}" -o out >/dev/null 2>resumed.err || fail "killed at call $n of $num: $(cat resumed.err)"
    diff -r whole/model out/model >/dev/null || fail "killed at call $n of $num: another model"
    cmp -s whole/planes.json out/planes.json || fail "killed at call $n of $num: other planes"
    sqlite3 out/database.db .dump | cmp -s whole.sql || fail "killed at call $n of $num: another database"
    [ "$(ls -A out)" = "$(ls -A whole)" ] || fail "killed at call $n of $num: left $(ls -A out)"
done
[ "$killed" -gt 10 ] || fail "only $killed runs were killed"
echo "killed at $killed of $num calls and resumed"
