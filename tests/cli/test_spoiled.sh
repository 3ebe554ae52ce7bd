# One call goes wrong: an allocation fails, a disk is full, a write is short or interrupted. The
# command ends with a sentence or with the same result, and never leaves half a result.
# Of each kind some SAMPLES are tried: of the calls that change files, and of the paths of calls that
# lead to an allocation. FAULT_STEP=1 tries every call and every path, FAULT_ALL=1 every allocation.
source "$(dirname "$0")/lib.sh"
need_faults "$3"
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
failing=$(dirname "$3")/planarsfm_failing
export ASAN_OPTIONS=exitcode=99:${ASAN_OPTIONS:-} LSAN_OPTIONS=exitcode=99:${LSAN_OPTIONS:-}
"$planarsfm" synth arena -o scene --cameras 4 --matches-only --quiet >/dev/null
"$planarsfm" reconstruct scene/database.db -o done --quiet >/dev/null
camera_centers done/model/0 >positions.txt

printf 'p a.jpg 10 20\nq a.jpg 30 40\np b.jpg 50 60\nq b.jpg 7 8\n' >named.txt
camera="PINHOLE,100,80,50,50,50,40"
"$planarsfm" import-points named.txt -o started --camera "$camera" --quiet >/dev/null
sqlite3 started/database.db "DELETE FROM matches; DELETE FROM two_view_geometries"
printf 'a.jpg b.jpg\n0 0\n1 1\n\n' >list.txt

total=0
# check NAME WHAT COMMAND...: the command has just ended with $code.
check() {
    local what=$1
    shift
    [ "$code" -le 2 ] || fail "$what: exit code $code of $*: $(cat spoiled.err)"
    [ "$code" = 0 ] || [ -s spoiled.err ] || fail "$what: no word from $*"
    whole "$code" || fail "$what: half a result of $* (exit code $code): $(cat spoiled.err)"
    total=$((total + 1))
}
whole() { # CODE: `out` is as it was without the fault, or is not there
    if [ -d good ]; then
        [ ! -e out/summary.json ] && [ "$1" != 0 ] && [ ! -e out/model ] && return
        [ ! -e good/summary.json ] && [ "$1" != 0 ] && return
        [ ! -e good/model ] || diff -r good/model out/model >/dev/null
    elif [ -e good ]; then
        [ "$1" != 0 ] && [ ! -e out ] || cmp -s good out
    fi
}
keep_good() {
    rm -rf good
    [ ! -e out ] || cp -r out good
}

# spoil_files KIND COMMAND...: calls of the command, which writes to `out`, that change files.
spoil_files() {
    local kind=$1 num step n code
    shift
    rm -rf out
    FAULT_COUNT=count.txt LD_PRELOAD=$preload "$@" >/dev/null 2>&1 || fail "$* fails by itself"
    keep_good
    num=$(cat count.txt)
    step=${FAULT_STEP:-$((num / ${SAMPLES:-6} + 1))}
    for ((n = 1 + step / 3; n <= num; n += step)); do
        rm -rf out
        code=0
        (FAULT_IO=$n FAULT_KIND=$kind LD_PRELOAD=$preload "$@") >spoiled.out 2>spoiled.err || code=$?
        check "$kind at call $n of $num" "$@"
    done
}

# spoil_memory COMMAND...: allocations of the command.
spoil_memory() {
    local num step n code
    rm -rf out
    FAULT_PATHS=paths.txt "$failing" "$@" >/dev/null 2>&1 || fail "$* fails by itself"
    keep_good
    num=$(sed -n 's/^all //p' paths.txt)
    sed -i '/^all/d' paths.txt
    [ -z "${FAULT_ALL:-}" ] || seq "$num" >paths.txt
    step=${FAULT_STEP:-$(($(wc -l <paths.txt) / ${SAMPLES:-6} + 1))}
    for n in $(awk -v step="$step" '(NR + int(step / 3)) % step == 0' paths.txt); do
        rm -rf out
        code=0
        (FAULT_MEMORY=$n "$failing" "$@") >spoiled.out 2>spoiled.err || code=$?
        check "allocation $n of $num" "$@"
    done
}

# contents PATH: a file, or all files of a folder, with a sum of each; of databases of what is in
# them (SQLite takes back what a journal is left of; empty tables of ours are nothing), of results
# without the summary, which has times.
contents() {
    [ -e "$1" ] || return 0
    find "$1" -type f ! -name summary.json ! -name '*.db-journal' ! -name '*.lock' | LC_ALL=C sort | while read -r file; do
        echo "${file#"$1"} $( ([[ $file = *.db ]] && sqlite3 "$file" .dump | grep -v "TABLE planarsfm_" || cat "$file") | cksum)"
    done
}

# spoil_changes KIND START COMMAND...: calls of a command that changes `out`, which is a copy of START
# before ("none" and "any": nothing). Afterwards it is as it was or as it should be, standard output
# included, and nothing else lies about; of synth and court ("any") there may be parts. A command that failed can
# be repeated.
spoil_changes() {
    local kind=$1 start=$2 num step n code
    shift 2
    rm -rf out
    [ ! -e "$start" ] || cp -r "$start" out
    FAULT_COUNT=count.txt LD_PRELOAD=$preload "$@" >good.out 2>/dev/null || fail "$* fails by itself"
    contents out >good.txt
    contents "$start" >start.txt
    num=$(cat count.txt)
    step=${FAULT_STEP:-$((num / ${SAMPLES:-4} + 1))}
    for ((n = 1 + step / 3; n <= num; n += step)); do
        rm -rf out
        [ ! -e "$start" ] || cp -r "$start" out
        code=0
        (FAULT_IO=$n FAULT_KIND=$kind LD_PRELOAD=$preload "$@") >spoiled.out 2>spoiled.err || code=$?
        [ "$code" -le 2 ] || fail "$kind at call $n of $num: exit code $code of $*: $(cat spoiled.err)"
        [ "$code" = 0 ] || [ -s spoiled.err ] || fail "$kind at call $n of $num: no word from $*"
        contents out >now.txt
        if [ "$code" = 0 ]; then
            cmp -s good.txt now.txt && cmp -s good.out spoiled.out || fail "$kind at call $n of $num: another result of $*"
        elif ! cmp -s good.txt now.txt; then
            [ "$start" = any ] || cmp -s start.txt now.txt ||
                fail "$kind at call $n of $num: half a result of $*: $(diff good.txt now.txt)"
            "$@" >/dev/null 2>again.err || fail "$kind at call $n of $num: $* cannot be repeated: $(cat again.err)"
            contents out | cmp -s good.txt || fail "$kind at call $n of $num: $* repeated gives another result"
        fi
        total=$((total + 1))
    done
}

one=(--quiet --threads 1)
if [ -z "${ONLY_MEMORY:-}" ]; then
    for kind in ENOSPC EIO EINTR short; do
        spoil_files $kind "$planarsfm" reconstruct scene/database.db -o out "${one[@]}"
        spoil_files $kind "$planarsfm" convert done --to transforms.json -o out "${one[@]}"
        spoil_files $kind "$planarsfm" align done --positions positions.txt -o out "${one[@]}"
        spoil_changes $kind none "$planarsfm" eval scene/gt done/model --json --threads 1
        spoil_changes $kind none "$planarsfm" compare done scene/gt --json "${one[@]}"
        spoil_changes $kind done "$planarsfm" report out "${one[@]}"
        spoil_changes $kind none "$planarsfm" import-points named.txt -o out --camera "$camera" "${one[@]}"
        spoil_changes $kind started "$planarsfm" import-matches out/database.db list.txt "${one[@]}"
        spoil_changes $kind any "$planarsfm" synth arena -o out --cameras 3 --points 60 --matches-only "${one[@]}"
    done
fi
spoil_memory convert done --to transforms.json -o out "${one[@]}"
spoil_memory align done --positions positions.txt -o out "${one[@]}"
spoil_memory eval scene/gt done/model --json --threads 1
spoil_memory compare done scene/gt "${one[@]}"
spoil_memory report done "${one[@]}"
spoil_memory reconstruct scene/database.db -o out "${one[@]}"
if "$planarsfm" synth field -o ring --cameras 4 --render.width "${WIDTH:-320}" --quiet >/dev/null 2>&1 && [ -d ring/images ]; then
    spoil_memory run ring/images --cameras ring/gt -o out "${one[@]}"
    [ -z "${ONLY_MEMORY:-}" ] || { echo "$total calls went wrong"; exit; }
    spoil_files ENOSPC "$planarsfm" run ring/images --cameras ring/gt -o out "${one[@]}"
    spoil_files EIO "$planarsfm" run ring/images --cameras ring/gt -o out "${one[@]}"
    for kind in ENOSPC EIO EINTR short; do
        spoil_changes $kind any "$planarsfm" court ring/images --court tennis -o out "${one[@]}"
    done
fi
echo "$total calls went wrong"
