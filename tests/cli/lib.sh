# What the tests of the command share. Sourced: $1 is the command, $2 a scratch folder.
set -euo pipefail
planarsfm=$1
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# refuses CODE WORD COMMAND...: the command exits with CODE and one sentence that contains WORD.
refuses() {
    local code=$1 word=$2 got=0
    shift 2
    "$@" >refused.out 2>refused.err || got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit code $got, not $code: $(cat refused.err)"
    grep -q -- "$word" refused.err || fail "$*: no '$word' in: $(cat refused.err)"
}

# number FILE KEY: the number behind "KEY":, or the first one in the object or list there.
number() {
    tr -d ' \t\n' <"$1" | sed -E "s/.*\"$2\":[[{]*(\"[^\"]*\":)?(-?[0-9.]+(e[+-]?[0-9]+)?).*/\2/"
}

# at_least A B: A >= B for decimal numbers.
at_least() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'
}

# need_faults TOOL: sets preload, the library of tests/faults beside the tool; the test is skipped
# where it cannot be preloaded (sanitizers bring an allocator of their own).
need_faults() {
    preload=$(dirname "$1")/libfaults.so
    rm -f faults.txt
    FAULT_COUNT=faults.txt LD_PRELOAD=$preload "$planarsfm" --version >/dev/null 2>&1 || true
    [ -s faults.txt ] || { echo "no library can be preloaded"; exit 77; }
}
