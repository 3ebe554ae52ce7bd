# Under a limit of memory of any size a run ends, with its results or with one sentence.
source "$(dirname "$0")/lib.sh"
(ulimit -v 1000000 && "$planarsfm" --version) >/dev/null 2>&1 ||
    { echo "the command cannot be limited (sanitizers)"; exit 77; }
"$planarsfm" synth arena -o scene --cameras 6 --matches-only --quiet >/dev/null
for limit in 160000 200000 300000 400000 450000 500000 600000 1000000; do
    rm -rf out
    code=0
    (ulimit -v $limit && timeout 120 "$planarsfm" reconstruct scene/database.db -o out --threads 2 --quiet) \
        >limit.out 2>limit.err || code=$?
    [ "$code" -le 1 ] || fail "ulimit -v $limit: exit code $code: $(cat limit.err)"
    [ "$code" = 0 ] || [ "$(wc -l <limit.err)" = 1 ] || fail "ulimit -v $limit: $(cat limit.err)"
    [ "$code" = 1 ] || [ -s out/model/0/images.txt ] || fail "ulimit -v $limit: no model"
done
