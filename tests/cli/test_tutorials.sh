# The tutorials' commands work as they stand: every block marked sh is run, one tutorial per folder.
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$(dirname "$0")/lib.sh"
mkdir bin
ln -s "$(realpath "$planarsfm")" bin/planarsfm
export PATH="$PWD/bin:$PATH"

for tutorial in "$root"/docs/tutorials/*.md; do
    name=$(basename "$tutorial" .md)
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$tutorial" >"$name.sh"
    [ -s "$name.sh" ] || continue
    mkdir "$name"
    (cd "$name" && bash -euo pipefail "../$name.sh") >"$name.out" 2>&1 || fail "$name: $(tail -5 "$name.out")"
done

# What they promise.
check() { # FILE WORD
    grep -q -- "$2" "$1" || fail "$1: no '$2' in: $(cat "$1")"
}
check arena.out 'registered 24 of 24'
check arena.out '^7 of 7 used'
check arena.out 'aligned model in hall/court'
check field.out '^8 of 8 used: root mean square 0\.'
check field.out '^4 of 4 used'
check facade.out 'registered 8 of 8'
check nerfstudio.out 'cam_0001.jpg is at'
position() { # FILE: the largest difference of a comparison
    sed -n 's/^position: .*largest \([0-9.e+-]*\) .*/\1/p' "$1"
}
at_least 0.3 "$(position arena.out)" || fail "arena: $(cat arena.out)"
at_least 1.0 "$(position field.out)" || fail "field: $(cat field.out)"
