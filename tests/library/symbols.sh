# What the headers declare is what the map lists and what the shared library exports, with versions;
# the headers are C++ as well: symbols.sh LIBRARY
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
declared=$(cat "$root"/include/planarsfm/*.h | tr '\n' ' ' | grep -oE 'PSFM_API [^;]*' |
    grep -oE '\bpsfm_[A-Za-z0-9_]+ ?\(' | tr -d ' (' | sort -u)
listed=$(grep -oE '\bpsfm_[a-zA-Z0-9_]+;' "$root/cmake/planarsfm.map" | tr -d ';' | sort -u)
exported=$(nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sort -u)
diff <(echo "$declared") <(echo "$listed") || { echo "FAILED: headers and cmake/planarsfm.map differ"; exit 1; }
diff <(sed 's/$/@@PLANARSFM_0/' <<<"$listed") <(echo "$exported") ||
    { echo "FAILED: cmake/planarsfm.map and $1 differ"; exit 1; }
others=$(nm -D --defined-only "$1" | awk '$2 != "T" && $3 != "PLANARSFM_0"')
[ -z "$others" ] || { echo "FAILED: more is exported: $others"; exit 1; }
if command -v c++ >/dev/null; then
    echo '#include <planarsfm/planarsfm.h>
    int main() { return psfm_version()[0] == 0; }' |
        c++ -x c++ -Wall -Wextra -Werror -fsyntax-only -I"$root/include" -
fi
