# Photographs as TIFF and HEIC files: the same pixels give the same features, pages are said, damage is
# left out. $3 is a tool beside the maker of photographs.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/photos.sh"
make_photo=$(dirname "$3")/make_photo
features() { "$planarsfm" extract "$1" -o "$1.out" --json --quiet >"$1.json" 2>"$1.err" && number "$1.json" features; }

convert() { # ENDING [PAGES]: the photographs of the ring in a folder of that name
    local code=0 photo
    mkdir -p "$1"
    for photo in ring/images/*; do
        "$make_photo" "$photo" "$1/$(basename "${photo%.*}").$1" ${2:-1} || code=$?
        [ "$code" != 77 ] || { echo "$1 files cannot be written here"; exit 77; }
        [ "$code" = 0 ] || fail "$photo to $1"
    done
}

convert tif
[ "$(features tif)" = "$(features ring/images)" ] || fail "TIFF has other features: $(cat tif.json)"
rm -r tif
convert tif 2
"$planarsfm" extract tif -o pages >/dev/null 2>said
grep -q "tif/cam_0001.tif: the first of its 2 pages is taken" said || fail "pages: $(cat said)"

first=$(ls tif/* | head -n 1)
head -c $(($(wc -c <"$first") / 2)) "$first" >half.tif && mv half.tif "$first"
cp "$first" tif/photo.dng # a name does not matter
"$planarsfm" extract tif -o pages >/dev/null 2>said
grep -q "left out: $first: not a sound TIFF file" said || fail "half a file: $(cat said)"

convert heic
"$planarsfm" run heic -o heic.out --pairs ring:2 --json --quiet >heic.json 2>said || fail "$(cat said)"
[ "$(number heic.json images_posed)" = "$num_photos" ] || fail "HEIC: $(cat heic.json)"
first=$(ls heic/* | head -n 1)
head -c $(($(wc -c <"$first") / 2)) "$first" >half.heic && mv half.heic "$first"
"$planarsfm" extract heic -o heic.out >/dev/null 2>said
grep -q "left out: $first: not a sound HEIC file" said || fail "half a file: $(cat said)"
"$planarsfm" doctor | grep -q "^libheif: *[0-9]" || fail "doctor does not list libheif"
