# A program, and the core's library, need no library of images, files or networks: needed.sh FILE...
set -euo pipefail
for file in "$@"; do
    needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    [ -n "$needed" ] || { echo "FAILED: readelf says nothing of $file"; exit 1; }
    if grep -E 'jpeg|png|tiff|heif|exif|sqlite|hdf5|dnnl|cjson|libplanarsfm\.' <<<"$needed"; then
        echo "FAILED: $file needs more than the core may"
        exit 1
    fi
done
