# Under a limit of memory of any size a command ends, with its results or with one sentence, and
# never hangs, crashes or aborts. SIZES says how many limits from 100 MB to 1.1 GB each command gets.
source "$(dirname "$0")/lib.sh"
(ulimit -v 1000000 && OPENBLAS_NUM_THREADS=1 "$planarsfm" --version) >/dev/null 2>&1 ||
    { echo "the command cannot be limited (sanitizers)"; exit 77; }
"$planarsfm" synth arena -o scene --cameras 6 --matches-only --quiet >/dev/null
"$planarsfm" reconstruct scene/database.db -o done --quiet --threads 1 >/dev/null
num_done=0 num_refused=0

# limited KILOBYTES COMMAND...: with too little for the shared libraries it is the loader that says
# so, with exit code 127.
limited() {
    local limit=$1 code=0
    shift
    (ulimit -c 0 && ulimit -v "$limit" && exec timeout -s KILL 120 "$planarsfm" "$@" --quiet --threads 2) \
        >limit.out 2>limit.err || code=$?
    [ "$code" -le 1 ] || { [ "$code" = 127 ] && grep -q 'shared libraries' limit.err; } ||
        fail "ulimit -v $limit: exit code $code of $*: $(cat limit.err)"
    [ "$code" = 0 ] || [ "$(wc -l <limit.err)" = 1 ] || fail "ulimit -v $limit: $*: $(cat limit.err)"
    [ "$code" = 0 ] && num_done=$((num_done + 1)) || num_refused=$((num_refused + 1))
    return "$code"
}

# OpenBLAS starts with a thread for each processor: where they have no room a sentence says what to set,
# and where they have it nothing needs to be set.
unset OPENBLAS_NUM_THREADS GOTO_NUM_THREADS OMP_NUM_THREADS
if [ "$(nproc)" -gt 1 ]; then
    for limit in 300000 $((100000 + 200000 * $(nproc))); do
        (ulimit -c 0 && ulimit -v "$limit" && refuses 1 "set OPENBLAS_NUM_THREADS=1" \
            timeout -s KILL 120 "$planarsfm" reconstruct scene/database.db -o out)
        (export OMP_NUM_THREADS=64 && ulimit -v "$limit" && refuses 1 "set OPENBLAS_NUM_THREADS=1" "$planarsfm" --version)
    done
fi
limited $((500000 + 300000 * $(nproc))) reconstruct scene/database.db -o out || fail "room for all threads, and no result"
export OPENBLAS_NUM_THREADS=1
OMP_NUM_THREADS=64 limited 500000 reconstruct scene/database.db -o out ||
    fail "a limit does not go with threads that the environment asks for"

has_photos=
"$planarsfm" synth field -o ring --cameras 4 --render.width 320 --quiet >/dev/null 2>&1 && [ -d ring/images ] &&
    "$planarsfm" extract ring/images --cameras ring/gt -o extracted --quiet >/dev/null && has_photos=1
sizes=${SIZES:-10}
for ((k = 0; k < sizes; ++k)); do
    limit=$((100000 + 1000000 * k * k / sizes / sizes))
    rm -rf out
    limited $limit reconstruct scene/database.db -o out && { cmp -s done/model/0/images.txt out/model/0/images.txt ||
        fail "ulimit -v $limit: another model"; }
    rm -f done/report.html
    limited $limit report done && { [ -s done/report.html ] || fail "ulimit -v $limit: no report"; }
    [ -n "$has_photos" ] || continue
    rm -rf out matched
    limited $limit extract ring/images --cameras ring/gt -o out || true
    cp -r extracted matched
    limited $limit match matched/database.db || true
    rm -rf out
    limited $limit run ring/images --cameras ring/gt -o out && { [ -s out/model/0/images.txt ] ||
        fail "ulimit -v $limit: no model"; }
done
[ "$num_done" -gt 0 ] && [ "$num_refused" -gt 0 ] || fail "$num_done ended well, $num_refused did not"
echo "$((num_done + num_refused)) limits: $num_done results, $num_refused sentences"

# A budget is kept and changes nothing but the time.
if [ -n "$has_photos" ]; then
    "$planarsfm" run ring/images --cameras ring/gt -o wide --quiet --no-report >/dev/null
    "$planarsfm" run ring/images --cameras ring/gt -o narrow --memory 16 --quiet --no-report >/dev/null
    diff -r wide/model narrow/model >/dev/null || fail "--memory changes the result"
fi
