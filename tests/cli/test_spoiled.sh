# One call goes wrong: an allocation fails, a disk is full, a write is short or interrupted. The
# command ends with a sentence or with the same result, and never leaves half a result.
# FAULT_STEP=1 tries every call, otherwise some SAMPLES of each kind are tried.
source "$(dirname "$0")/lib.sh"
need_faults "$3"
"$planarsfm" synth arena -o scene --cameras 4 --matches-only --quiet >/dev/null
"$planarsfm" reconstruct scene/database.db -o done --quiet >/dev/null
positions() { awk '!/^#/ && NF == 10 { print $10, $6, $7, $8 }' done/model/0/images.txt; }
positions >positions.txt

# spoil KIND VARIABLE COLUMN COMMAND...: each N-th call (column of the counts) of the command, which
# writes to `out`, goes wrong.
total=0
spoil() {
    local kind=$1 variable=$2 column=$3 num step n code
    shift 3
    rm -rf out
    FAULT_COUNT=count.txt LD_PRELOAD=$preload "$@" >/dev/null 2>&1 || fail "$* fails by itself"
    rm -rf good
    [ ! -e out ] || cp -r out good
    num=$(cut -d' ' -f"$column" count.txt)
    step=${FAULT_STEP:-$((num / ${SAMPLES:-12} + 1))}
    for ((n = 1 + step / 3; n <= num; n += step)); do
        rm -rf out
        code=0
        (env "$variable=$n" FAULT_KIND="$kind" LD_PRELOAD="$preload" "$@") >spoiled.out 2>spoiled.err || code=$?
        [ "$code" -le 2 ] || fail "$kind at call $n of $num: exit code $code of $*: $(cat spoiled.err)"
        [ "$code" = 0 ] || [ -s spoiled.err ] || fail "$kind at call $n of $num: no word from $*"
        whole "$code" || fail "$kind at call $n of $num: half a result of $* (exit code $code): $(cat spoiled.err)"
        total=$((total + 1))
    done
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
one=(--quiet --threads 1)
for kind in ENOSPC EIO EINTR short; do
    spoil $kind FAULT_IO 1 "$planarsfm" reconstruct scene/database.db -o out "${one[@]}"
    spoil $kind FAULT_IO 1 "$planarsfm" convert done --to transforms.json -o out "${one[@]}"
done
spoil memory FAULT_MEMORY 2 "$planarsfm" reconstruct scene/database.db -o out "${one[@]}"
spoil memory FAULT_MEMORY 2 "$planarsfm" convert done --to transforms.json -o out "${one[@]}"
spoil memory FAULT_MEMORY 2 "$planarsfm" align done --positions positions.txt -o out "${one[@]}"
spoil memory FAULT_MEMORY 2 "$planarsfm" eval scene/gt done/model --json --threads 1
spoil memory FAULT_MEMORY 2 "$planarsfm" compare done scene/gt "${one[@]}"
echo "$total calls went wrong"
