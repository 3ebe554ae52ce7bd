# A folder of src/ includes itself and the folders above it in the table of CONTRIBUTING.md, which
# lists them all: layers.sh [ROOT]. One line for each include that goes the other way.
set -euo pipefail
root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root"
layers=$(sed -nE 's/^\| `src\/([a-z0-9_]+)` \|.*/\1/p' CONTRIBUTING.md)
folders=$(find src -mindepth 1 -maxdepth 1 -type d -printf '%f\n')
status=0
for folder in $folders; do
    grep -qx "$folder" <<<"$layers" ||
        { echo "FAILED: src/$folder is not in the table of CONTRIBUTING.md"; status=1; }
done
for layer in $layers; do
    [ -d "src/$layer" ] || { echo "FAILED: CONTRIBUTING.md lists src/$layer, which is not there"; status=1; }
done
wrong=$(find src -name '*.[ch]' -exec grep -HnoE '^ *# *include *"[a-z0-9_]+/[^"]*"' {} + | LC_ALL=C sort |
    awk -F'[:"]' -v layers="$layers" '
    BEGIN { num = split(layers, name, "\n"); for (k = 1; k <= num; ++k) rank[name[k]] = k }
    {
        split($1, file, "/"); split($4, header, "/")
        if (rank[file[2]] && rank[header[1]] > rank[file[2]])
            printf "FAILED: %s:%d includes %s, but src/%s comes after src/%s in CONTRIBUTING.md\n",
                $1, $2, $4, header[1], file[2]
    }')
[ -z "$wrong" ] || { echo "$wrong"; status=1; }
exit $status
