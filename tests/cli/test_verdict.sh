# The last lines of a run: what was posed, and why it is doubtful if it is.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o good --matches-only --cameras 16 --points 400 --quiet >/dev/null
"$planarsfm" reconstruct good/database.db -o good/out --quiet >good.txt
tail -n 1 good.txt | grep -qE '^16 of 16 images posed in 1 model, [0-9.]+ px, [0-9.]+ deg$' || fail "last line: $(cat good.txt)"
! grep -q doubtful good.txt || fail "a clean set is called doubtful"
grep -qE '"verdict":[[:space:]]*"right"' good/out/summary.json || fail "a clean set is not called right"

"$planarsfm" synth arena -o twins --matches-only --cameras 16 --points 400 --twins 0.4 --quiet >/dev/null
"$planarsfm" reconstruct twins/database.db -o twins/out --quiet >twins.txt || fail "a doubtful model is no failure"
grep -qE '^doubtful: .*; .*--pairs' twins.txt || fail "40 % twins without a word: $(cat twins.txt)"
grep -qE '"verdict":[[:space:]]*"doubtful"' twins/out/summary.json || fail "40 % twins are called right"
