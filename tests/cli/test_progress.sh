# What the command says while it works: one line a step on a terminal, whole at the end, and nothing
# where there is none. Ctrl-C stops it, and the same command goes on.
source "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
source "$here/photos.sh"
terminal() { python3 "$here/terminal.py" "$@"; }
took='done in ([0-9]+ min )?[0-9.]+ s'

# Through a pipe: no progress, no control characters; lines if they are wanted.
"$planarsfm" synth arena -o arena --matches-only --cameras 12 --quiet >/dev/null
"$planarsfm" reconstruct arena/database.db -o out >said.out 2>said.err
grep -qE "$took" said.err && fail "progress without a terminal: $(cat said.err)"
"$planarsfm" reconstruct arena/database.db -o out --progress >said.out 2>said.err
for step in planes poses; do
    [ "$(grep -cE "^$step +$took$" said.err)" = 1 ] || fail "--progress, $step: $(cat said.err)"
done
LC_ALL=C grep -q '[[:cntrl:]]' said.err said.out && fail "control characters in a pipe"
"$planarsfm" reconstruct arena/database.db -o out --quiet --progress >said.out 2>said.err
[ ! -s said.err ] || fail "--quiet says: $(cat said.err)"

# On a terminal: what stays is one whole line a step, and no bar.
terminal --raw drawn.txt "$planarsfm" run ring/images -o whole --effort high >screen.txt
grep -q '^status 0$' screen.txt || fail "run: $(cat screen.txt)"
for step in features matching planes patches poses "fine poses" results; do
    [ "$(grep -cE "^$step +$took$" screen.txt)" = 1 ] || fail "$step: $(cat screen.txt)"
done
grep -qE '\[[#.]+\]|left in all' screen.txt && fail "half a line stays: $(cat screen.txt)"
grep -q '\[#.*%' drawn.txt || fail "no bar was drawn"
terminal "$planarsfm" reconstruct arena/database.db -o out --quiet >screen.txt
grep -qE "$took" screen.txt && fail "--quiet on a terminal: $(cat screen.txt)"

# A narrow terminal is not wrapped.
terminal --columns 30 --raw drawn.txt "$planarsfm" reconstruct arena/database.db -o out >screen.txt
tr '\r' '\n' <drawn.txt | grep -E '^(planes|poses) ' | grep -vE "$took" | awk 'length > 29' >long.txt
[ ! -s long.txt ] || fail "too long for 30 columns: $(cat long.txt)"

# Interrupted in a step, it says how it goes on; then it ends like a run that was not.
for word in matching; do
    rm -rf stopped
    terminal --keys "$word  " "$planarsfm" run ring/images -o stopped --effort high >screen.txt
    grep -q '^status 130$' screen.txt || fail "Ctrl-C in $word: $(cat screen.txt)"
    grep -q 'the same command goes on' screen.txt || fail "Ctrl-C in $word says: $(cat screen.txt)"
    grep -q '^stopping; Ctrl-C again stops at once$' screen.txt || fail "no note: $(cat screen.txt)"
    grep -q 'left in all' screen.txt && fail "Ctrl-C leaves half a line: $(cat screen.txt)"
    grep -qE '^[a-z ]+ +stopped after [0-9.]+ s$' screen.txt || fail "no line: $(cat screen.txt)"
    [ ! -e stopped/summary.json ] || fail "results of an interrupted run"
    "$planarsfm" run ring/images -o stopped --effort high --quiet >/dev/null
    cmp stopped/model/0/images.txt whole/model/0/images.txt || fail "other poses after Ctrl-C in $word"
done
