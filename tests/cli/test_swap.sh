# A re-run that is killed at any call that changes files leaves all results of the run before or all
# of its own, and the next run ends as if nothing had happened. FAULT_STEP=1 tries every call.
source "$(dirname "$0")/lib.sh"
need_faults "$3"
"$planarsfm" synth arena -o scene --cameras 4 --matches-only --quiet >/dev/null
reconstruct=("$planarsfm" reconstruct scene/database.db --quiet --threads 1)
again=("${reconstruct[@]}" -o out)
before=("${again[@]}" --mode paper) # writes no planes
"${reconstruct[@]}" -o robust >/dev/null
"${reconstruct[@]}" -o paper --mode paper >/dev/null

state() { # OUT: what somebody reads there
    local file
    for file in model/0/cameras.txt model/0/images.txt model/0/points3D.txt planes.json planes.ply graph.json; do
        { cat "$1/$file" 2>/dev/null || echo none; } | md5sum
    done
    grep -o '"mode":[^,]*' "$1/summary.json" "$1/report.html" | sed "s|^$1||"
}
state paper >paper.txt
state robust >robust.txt
! cmp -s paper.txt robust.txt || fail "the two results cannot be told apart"

"${before[@]}" >/dev/null
FAULT_COUNT=count.txt LD_PRELOAD=$preload "${again[@]}" >/dev/null
read -r num <count.txt
[ "$num" -gt 50 ] || fail "only $num calls were counted"
num_old=0 num_new=0
for ((n = 1; n <= num; n += ${FAULT_STEP:-4})); do
    "${before[@]}" >/dev/null || fail "the run after a kill failed"
    state out | cmp -s paper.txt || fail "the run after a kill gave another result"
    [ ! -e out/.planarsfm ] || fail "its folder stayed"
    (FAULT_IO=$n FAULT_KIND=kill LD_PRELOAD=$preload "${again[@]}"; exit $?) >/dev/null 2>&1 && continue
    state out >now.txt
    if cmp -s now.txt paper.txt; then
        num_old=$((num_old + 1))
    elif cmp -s now.txt robust.txt; then
        num_new=$((num_new + 1))
    else
        fail "killed at call $n of $num: $(diff now.txt robust.txt)"
    fi
done
[ "$num_old" -gt 0 ] && [ "$num_new" -gt 0 ] || fail "old $num_old times, new $num_new times"
echo "killed at $((num_old + num_new)) of $num calls: $num_old times the old results, $num_new times the new ones"
