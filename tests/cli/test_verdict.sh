# The last lines of a run: what was posed, and why it is doubtful if it is.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o good --matches-only --cameras 16 --points 400 --quiet >/dev/null
"$planarsfm" reconstruct good/database.db -o good/out --quiet >good.txt
tail -n 1 good.txt | grep -qE '^16 of 16 images posed in 1 model, [0-9.]+ px, [0-9.]+ deg$' || fail "last line: $(cat good.txt)"
! grep -q doubtful good.txt || fail "a clean set is called doubtful"
grep -qE '"verdict":[[:space:]]*"right"' good/out/summary.json || fail "a clean set is not called right"

! grep -q '"standard_deviations"' good/out/summary.json || fail "all images have standard deviations, and it says some"

# Where conjugate gradients are asked for, some images have standard deviations, and it is said.
"$planarsfm" synth arena -o many --matches-only --cameras 40 --points 200 --quiet >/dev/null
"$planarsfm" reconstruct many/database.db -o many/out --bundle.solver iterative --refine.stability-tests off --quiet >/dev/null
grep -qE '"text":[[:space:]]*"only 2[0-9] of 40 posed images have standard deviations' many/out/summary.json ||
    fail "nothing says which images have standard deviations"

"$planarsfm" synth arena -o duplicates --matches-only --cameras 16 --points 400 --duplicates 0.4 --quiet >/dev/null
"$planarsfm" reconstruct duplicates/database.db -o duplicates/out --quiet >duplicates.txt || fail "a doubtful model is no failure"
grep -q '^doubtful: ' duplicates.txt && grep -q '^diagnosis: pairs contradict each other' duplicates.txt || fail "40 % duplicates without a word: $(cat duplicates.txt)"
grep -qE '"verdict":[[:space:]]*"doubtful"' duplicates/out/summary.json || fail "40 % duplicates are called right"

# The images that a warning is about are named.
grep -qE '^doubtful: images could as well be turned: .*\(cam_[0-9]{4}\.jpg' duplicates.txt || fail "no image is named: $(cat duplicates.txt)"
"$planarsfm" synth arena -o thin --matches-only --cameras 10 --points 400 --neighbours 1 --open-chain on --quiet >/dev/null
"$planarsfm" reconstruct thin/database.db -o thin/out --quiet >thin.txt
grep -q '^plausible: parts hang on single images.* (cam_0002.jpg, cam_0003.jpg, cam_0004.jpg and 5 more)$' thin.txt ||
    fail "what a chain hangs on: $(cat thin.txt)"

# One diagnosis at most, and no two pieces of advice.
for text in duplicates.txt thin.txt; do
    [ "$(grep -c '^diagnosis: ' $text)" = 1 ] || fail "not one diagnosis: $(cat $text)"
    ! grep -E '^(doubtful|plausible): ' $text | grep -q -- '--' || fail "a warning gives advice: $(cat $text)"
done
refuses 1 "the verdict is 'plausible'" "$planarsfm" reconstruct thin/database.db -o thin/out --quiet --strict
"$planarsfm" reconstruct good/database.db -o good/out --quiet --strict >/dev/null || fail "a right model is not strict enough"
refuses 1 "missing" "$planarsfm" run missing -o missing_out --json --quiet
grep -q '"error":.*missing' refused.out || fail "no JSON of a failure: $(cat refused.out)"
"$planarsfm" synth arena -o more --matches-only --cameras 40 --points 200 --quiet >/dev/null
"$planarsfm" eval more/gt good/out/model >subset.txt
! grep -q inf subset.txt || fail "infinite errors: $(cat subset.txt)"
"$planarsfm" eval more/gt good/out/model --common | grep -q '^registered 16 of 16' || fail "--common compares others, too"

# What cannot be told: marked in one model, split into parts that are right, or taken as it is and still doubtful.
models() { find "$1/model" -mindepth 1 -maxdepth 1 -type d | wc -l; }
"$planarsfm" synth arena -o even --matches-only --cameras 20 --points 400 --duplicates 0.3 --seed 5 --quiet >/dev/null
for how in mark split best; do
    "$planarsfm" reconstruct even/database.db -o "even/$how" --ambiguous $how --quiet >"$how.txt"
    grep -qE '^(doubtful|plausible): ' "$how.txt" || fail "--ambiguous $how says nothing: $(cat "$how.txt")"
done
[ "$(models even/mark)" -eq 1 ] && [ "$(models even/best)" -eq 1 ] || fail "mark or best splits the model"
[ "$(models even/split)" -eq 2 ] || fail "split gives $(models even/split) models"
grep -qE '"decided":[[:space:]]*false' even/mark/summary.json || fail "no undecided ambiguity is marked"
! grep -q '"decided"' even/best/summary.json || fail "best lists ambiguities"
# All pairs of the images of each part are right to half a degree: in per cent of all pairs.
parts_are_right() { # GT MODELS RECALL
    local part images pairs
    for part in "$2"/*; do
        "$planarsfm" eval "$1" "$part" --json >part.json
        images=$(number part.json num_registered) pairs=$(number part.json num_pairs)
        at_least "$(number part.json "$3")" "$(awk -v n="$images" -v all="$pairs" 'BEGIN { print 50 * n * (n - 1) / all - 0.01 }')" ||
            fail "$part is wrong: $(cat part.json)"
    done
}
parts_are_right even/gt even/split/model recall_rotation

# An image that is split off alone stays so: no point brings it back.
"$planarsfm" synth arena -o alone --matches-only --cameras 20 --duplicates 0.3 --seed 2 --quiet >/dev/null
"$planarsfm" reconstruct alone/database.db -o alone/split --ambiguous split --quiet >alone.txt
grep -q '^19 of 20 images posed in 1 model.*cam_0006.jpg (contradicts' alone.txt || fail "a single image is not split off: $(cat alone.txt)"

# Bays of a facade: the shift by one of them is named, in the unit of the model, and the parts are right.
"$planarsfm" synth facade -o bays --matches-only --cameras 20 --neighbours 3 --duplicates 0.1 --seed 3 --quiet >/dev/null
for how in mark split; do
    "$planarsfm" reconstruct bays/database.db -o "bays/$how" --ambiguous $how --quiet >"$how.txt"
    grep -q '^doubtful: .*could as well be shifted' "$how.txt" || fail "--ambiguous $how says nothing of bays: $(cat "$how.txt")"
done
grep -A 60 '"kind":[[:space:]]*"shift"' bays/mark/summary.json | grep -qE '"decided":[[:space:]]*false' || fail "no shift is marked"
[ "$(models bays/mark)" -eq 1 ] && [ "$(models bays/split)" -gt 1 ] || fail "bays: $(models bays/mark) and $(models bays/split) models"
parts_are_right bays/gt bays/split/model recall_max
