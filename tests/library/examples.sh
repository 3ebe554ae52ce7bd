# Every function of the headers is called in an example: examples.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
missing=0
for name in $(cat cmake/planarsfm.map cmake/planarsfm-core.map | grep -oE '\bpsfm_[a-zA-Z0-9_]+;' | tr -d ';' | sort -u); do
    grep -qE "\\b$name\(" docs/example.c docs/examples/*.c || { echo "FAILED: no example calls $name"; missing=1; }
done
exit $missing
