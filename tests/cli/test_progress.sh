# What the command says while it works: one line per stage, with its time.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o arena --matches-only --cameras 12 --quiet >/dev/null
"$planarsfm" reconstruct arena/database.db -o out >said.out 2>said.err
for stage in "load keypoints" "two-view geometry" similarity refinement; do
    [ "$(grep -c "^$stage: [0-9]* done in [0-9.]* s$" said.err)" = 1 ] || fail "$stage: $(cat said.err)"
done
"$planarsfm" reconstruct arena/database.db -o out --quiet >said.out 2>said.err
[ ! -s said.err ] || fail "--quiet says: $(cat said.err)"
