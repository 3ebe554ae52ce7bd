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

# camera_centers MODEL: a line "NAME x y z" an image of a text model, -R^T t.
camera_centers() {
    awk '!/^#/ && NF == 10 {
        w = $2; x = $3; y = $4; z = $5; a = $6; b = $7; c = $8
        printf "%s %.12g %.12g %.12g\n", $10,
            -((1 - 2 * (y * y + z * z)) * a + 2 * (x * y + w * z) * b + 2 * (x * z - w * y) * c),
            -(2 * (x * y - w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + w * x) * c),
            -(2 * (x * z + w * y) * a + 2 * (y * z - w * x) * b + (1 - 2 * (x * x + y * y)) * c)
    }' "$1/images.txt"
}

# need_faults TOOL: sets preload, the library of tests/faults beside the tool; the test is skipped
# where it cannot be preloaded (sanitizers bring an allocator of their own).
need_faults() {
    preload=$(dirname "$1")/libfaults.so
    rm -f faults.txt
    FAULT_COUNT=faults.txt LD_PRELOAD=$preload "$planarsfm" --version >/dev/null 2>&1 || true
    [ -s faults.txt ] || { echo "no library can be preloaded"; exit 77; }
}
