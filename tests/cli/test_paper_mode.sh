# From made-up matches to evaluated poses, and the same bytes however it is run.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o arena --matches-only --cameras 20 --off-plane 0.5 --noise-px 0.2 \
    --outliers 0.1 --quiet
"$planarsfm" reconstruct arena/database.db -o one --mode paper --threads 1 --quiet
cp arena/database.db second.db
"$planarsfm" reconstruct second.db -o two --mode paper --threads 2 --quiet
"$planarsfm" reconstruct second.db -o again --mode paper --threads 2 2>again.log >/dev/null
grep -q "taken from" again.log || fail "homographies of the first run were not used again"
for positions in biconnected rigid; do
    "$planarsfm" reconstruct arena/database.db -o $positions --mode paper --quiet \
        --paper.positions $positions
    if diff -q one/model/0/images.txt $positions/model/0/images.txt >/dev/null; then
        fail "positions from $positions edges are those of agreeing ones"
    fi
done
grep -q '"free_scales":	0' rigid/summary.json || fail "the extension until rigid is not rigid"
diff -r one/model two/model || fail "models differ between 1 and 2 threads"
diff -r one/model again/model || fail "models differ when homographies come from the database"
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files stayed"

"$planarsfm" eval arena/gt one/model --json >eval.json
[ "$(number eval.json num_registered)" = 20 ] || fail "not all images are posed: $(cat eval.json)"
at_least "$(number eval.json auc_rotation)" 90 || fail "rotations are poor: $(cat eval.json)"
at_least "$(number eval.json auc_max)" 60 || fail "positions are poor: $(cat eval.json)"
"$planarsfm" eval arena/gt arena/gt --json >self.json
at_least "$(number self.json auc_max)" 99.99 || fail "the truth is not its own best estimate"

"$planarsfm" ablate arena/database.db --gt arena/gt --seeds 3 --json --quiet >ablate.json
[ "$(grep -c '"name"' ablate.json)" = 7 ] || fail "the ablation has four rows and three of positions"
[ "$(number ablate.json runs)" = 3 ] || fail "a seed is a run"
# Its full method is paper mode: the same thresholds, by measured noise, the same order of images.
"$planarsfm" synth arena -o noisy --matches-only --cameras 12 --off-plane 0.3 --noise-px 2 --quiet
"$planarsfm" ablate noisy/database.db --seeds 1 --json --quiet >ablate.json
"$planarsfm" reconstruct noisy/database.db -o noisy/out --mode paper --quiet
"$planarsfm" eval noisy/gt noisy/out/model/0 --json >eval.json
python3 - ablate.json eval.json <<'END' || fail "the ablation's full method is not paper mode"
import json, sys
ablation, evaluation = (json.load(open(path)) for path in sys.argv[1:])
rows = {row["name"]: row["auc_mean"] for row in ablation["rows"]}
for row, auc in ("full method", "auc_rotation"), ("agreeing edges", "auc_max"):
    given = list(evaluation[auc].values())
    if any(abs(a - b) > 1e-6 for a, b in zip(rows[row], given, strict=True)):
        sys.exit(f"{row}: {rows[row]}, {given}")
END
"$planarsfm" ablate arena/database.db arena/database.db --seeds 1 --quiet >ablate.txt
grep -q "2 scenes, 2 runs" ablate.txt || fail "several databases, the truth beside them: $(cat ablate.txt)"
grep -q "^pruning off .*+-.*|" ablate.txt || fail "no mean and deviation: $(cat ablate.txt)"
"$planarsfm" ablate arena/database.db --seeds 1 --sweep --quiet >sweep.txt
[ "$(grep -c "^| Eq" sweep.txt)" -ge 15 ] || fail "the sweep has a line per reading: $(cat sweep.txt)"
if "$planarsfm" ablate --quiet 2>missing.txt; then fail "no database is not an error"; fi
grep -q "DATABASE... is missing" missing.txt || fail "$(cat missing.txt)"

# The same seed gives the same scene, another one another.
"$planarsfm" synth arena -o same --matches-only --cameras 20 --off-plane 0.5 --noise-px 0.2 \
    --outliers 0.1 --quiet
diff -r arena/gt same/gt || fail "the scene is not reproducible"
"$planarsfm" synth arena -o other --matches-only --cameras 20 --seed 1 --quiet
if diff -q arena/gt/images.txt other/gt/images.txt >/dev/null; then fail "the seed does nothing"; fi
