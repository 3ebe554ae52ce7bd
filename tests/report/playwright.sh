# Sourced: finds node, Chromium and playwright-core, which is fetched once into the folder $1 if the
# registry can be reached. Sets PLANARSFM_PLAYWRIGHT, or leaves $missing non-empty.
missing=
for candidate in chromium chromium-browser google-chrome; do
    command -v "$candidate" >/dev/null && chromium=$candidate
done
[ -n "${chromium:-}" ] || missing="no Chromium (Debian: chromium)"
command -v node >/dev/null || missing="no node (Debian: nodejs)"
if [ -z "$missing" ] && [ ! -d "$1/node_modules/playwright-core" ]; then
    mkdir -p "$1"
    cp "$(dirname "${BASH_SOURCE[0]}")"/package.json "$(dirname "${BASH_SOURCE[0]}")"/package-lock.json "$1"
    if ! command -v npm >/dev/null; then
        missing="no npm to fetch playwright-core with (Debian: npm)"
    elif ! (cd "$1" && timeout 90 npm ci --no-audit --no-fund --ignore-scripts >npm.log 2>&1); then
        missing="playwright-core could not be fetched: $(grep -m 1 error "$1/npm.log" || true)"
    fi
fi
export PLANARSFM_PLAYWRIGHT=$1
