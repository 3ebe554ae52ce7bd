# What the headers declare is what the maps list and what the shared libraries export, with versions, and no function
# is in both; the headers are C++ as well: symbols.sh LIBRARY CORE
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
fail() {
    echo "FAILED: $*"
    exit 1
}
# listed MAP, exported LIBRARY: names, sorted.
listed() { grep -oE '\bpsfm_[a-zA-Z0-9_]+;' "$root/cmake/$1" | tr -d ';' | sort -u; }
exported() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort -u; }

declared=$(cat "$root"/include/planarsfm/*.h | tr '\n' ' ' | grep -oE 'PSFM_API [^;]*' |
    grep -oE '\bpsfm_[A-Za-z0-9_]+ ?\(' | tr -d ' (' | sort -u)
diff <(echo "$declared") <({ listed planarsfm.map; listed planarsfm-core.map; } | sort) ||
    fail "headers and the maps in cmake differ"
diff <(listed planarsfm.map | sed 's/$/@@PLANARSFM_0/') <(exported "$1") || fail "cmake/planarsfm.map and $1 differ"
diff <(listed planarsfm-core.map | sed 's/$/@@PLANARSFM_CORE_0/') <(exported "$2" | grep -v '@@PLANARSFM_CORE_PRIVATE_') ||
    fail "cmake/planarsfm-core.map and $2 differ"
others=$(exported "$2" | grep '@@PLANARSFM_CORE_PRIVATE_' | grep -v '^psfm_' || true)
[ -z "$others" ] || fail "more is exported: $others"
both=$(comm -12 <(nm --defined-only "${1%.so*}.a" | awk '$2 ~ /[A-Z]/ { print $3 }' | sort -u) \
    <(nm --defined-only "${2%.so*}.a" | awk '$2 ~ /[A-Z]/ { print $3 }' | sort -u))
[ -z "$both" ] || fail "both libraries have $both"
# Every one is called by a test; that of NULL for all pointers is tests/unit/sfm/test_public_null.c.
for name in $declared; do
    grep -rqw "$name" "$root/tests/unit" || fail "no test in tests/unit calls $name"
done
if command -v c++ >/dev/null; then
    echo '#include <planarsfm/planarsfm.h>
    int main() { return psfm_version()[0] == 0; }' |
        c++ -x c++ -Wall -Wextra -Werror -fsyntax-only -I"$root/include" -
fi
