# Disks that are full or read-only: one sentence that names the file,
# nothing half-written, and the next run goes on to the same models.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/photos.sh"

run=("$planarsfm" run ring/images --cameras ring/gt --pairs ring:2 --no-report)
"${run[@]}" -o whole --quiet >/dev/null
same() { # OUT: it has the models of an undisturbed run and nothing temporary
    diff -r whole/model "$1/model" || fail "$1 has another model"
    [ -z "$(find "$1" -name '*.tmp' -o -name '*-journal')" ] || fail "$1: temporary files stayed"
}

# Files that cannot grow, in each stage: the features, the matches, the models.
limited() { # BLOCKS COMMAND...: no file grows beyond so many blocks of 1 kB
    local blocks=$1
    shift
    (trap '' XFSZ && ulimit -f "$blocks" && exec "$@")
}
size_of() { echo $(($(stat -c %s "$1") / 1024)); }
refuses 1 "small/database.db" limited 100 "${run[@]}" -o small --quiet
"$planarsfm" extract ring/images --cameras ring/gt -o small --quiet >/dev/null
refuses 1 "small/database.db" limited $(($(size_of small/database.db) + 8)) "${run[@]}" -o small --quiet
"$planarsfm" match small/database.db --pairs ring:2 --quiet >/dev/null
# The homographies cannot be kept, which is a warning; the model cannot be written.
largest=$(find whole/model -type f -printf '%s\n' | sort -n | tail -1)
cp whole/database.db small/database.db
if [ $((largest / 1024 - 1)) -gt 0 ]; then
    refuses 1 "model" limited $((largest / 1024 - 1)) "${run[@]}" -o small --quiet
    [ ! -e small/model ] || fail "half a model was left"
fi
"${run[@]}" -o small --quiet >/dev/null
same small

# A disk that is full, and has room again.
mkdir disk
if mount -t tmpfs -o size=500k tmpfs disk 2>mount.err; then
    trap 'umount "$scratch/disk" 2>/dev/null || true' EXIT
    refuses 1 "disk/out/database.db" "${run[@]}" -o disk/out --quiet
    mount -o remount,size=64m disk
    "${run[@]}" -o disk/out --quiet >/dev/null
    same disk/out
    mount -o remount,ro disk
    refuses 1 "disk/out" "$planarsfm" run ring/images --cameras ring/gt -o disk/out --quiet
    refuses 1 "disk/new" "${run[@]}" -o disk/new --quiet
    refuses 1 "disk/new" "$planarsfm" reconstruct whole/database.db -o disk/new --quiet
    same disk/out
    umount disk
else
    echo "not tried, no right to mount: a full disk, a read-only disk ($(cat mount.err))"
fi
