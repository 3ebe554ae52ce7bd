# From made-up matches to evaluated poses, and the same bytes however it is run.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o arena --matches-only --cameras 20 --off-plane 0.5 --noise-px 0.2 \
    --outliers 0.1 --quiet
"$planarsfm" reconstruct arena/database.db -o one --mode paper --threads 1 --quiet
cp arena/database.db second.db
"$planarsfm" reconstruct second.db -o two --mode paper --threads 2 --quiet
"$planarsfm" reconstruct second.db -o again --mode paper --threads 2 2>again.log >/dev/null
grep -q "taken from" again.log || fail "homographies of the first run were not used again"
diff -r one/model two/model || fail "models differ between 1 and 2 threads"
diff -r one/model again/model || fail "models differ when homographies come from the database"
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files stayed"

"$planarsfm" eval arena/gt one/model --json >eval.json
[ "$(number eval.json num_registered)" = 20 ] || fail "not all images are posed: $(cat eval.json)"
"$planarsfm" eval arena/gt arena/gt --json >self.json
at_least "$(number self.json auc_max)" 99.99 || fail "the truth is not its own best estimate"

"$planarsfm" ablate arena/database.db --gt arena/gt --seeds 3 --json --quiet >ablate.json
[ "$(grep -c '"name"' ablate.json)" = 4 ] || fail "the ablation has four rows"

# The same seed gives the same scene, another one another.
"$planarsfm" synth arena -o same --matches-only --cameras 20 --off-plane 0.5 --noise-px 0.2 \
    --outliers 0.1 --quiet
diff -r arena/gt same/gt || fail "the scene is not reproducible"
"$planarsfm" synth arena -o other --matches-only --cameras 20 --seed 1 --quiet
if diff -q arena/gt/images.txt other/gt/images.txt >/dev/null; then fail "the seed does nothing"; fi
