# Runs an example of the documentation; it must print what docs/examples/NAME.out says, its arguments are in
# tests/library/NAME.args, which makes its input first: example.sh PROGRAM NAME COMMAND SCRATCH
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$1 name=$2 command=$3
rm -rf "$4" && mkdir -p "$4" && cd "$4"
export LC_ALL=C PSFM_COMMAND=$command
set --
[ ! -e "$root/tests/library/$name.args" ] || . "$root/tests/library/$name.args"
"$program" "$@" >printed 2>messages || { echo "FAILED: $program"; cat printed messages; exit 1; }
cat printed
expected=$root/docs/examples/$name.out
if [ -e "$expected" ]; then
    diff "$expected" <(sed -E 's/-(0\.0*)([^0-9]|$)/\1\2/g' printed) || { echo "FAILED: the example prints something else"; exit 1; }
fi
