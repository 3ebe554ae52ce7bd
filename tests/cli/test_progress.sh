# What the command says while it works: one line per stage, with the time since the stage began.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o arena --matches-only --cameras 30 --quiet >/dev/null
"$planarsfm" reconstruct arena/database.db -o out >said.out 2>said.err
for stage in "load keypoints" "two-view geometry" similarity refinement; do
    [ "$(grep -c "^$stage: [0-9]* done in [0-9.]* s$" said.err)" = 1 ] || fail "$stage: $(cat said.err)"
done
# The refinement is interrupted by the bundle adjustments in it; what is printed is the whole of it, as
# in the summary, measured in the same run.
printed=$(sed -n 's/^refinement: .* in \([0-9.]*\) s$/\1/p' said.err)
sed -n '/"seconds"/,/}/p' out/summary.json >seconds.json
whole=$(number seconds.json refinement)
at_least "$printed" "$(awk -v s="$whole" 'BEGIN { print 0.5 * s - 0.01 }')" ||
    fail "refinement: $printed s printed, $whole s in the summary"

"$planarsfm" reconstruct arena/database.db -o out --quiet >said.out 2>said.err
[ ! -s said.err ] || fail "--quiet says: $(cat said.err)"
