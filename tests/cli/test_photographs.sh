# Photographs of all kinds, good and bad: what can be read is, what cannot is named with a reason.
source "$(dirname "$0")/lib.sh"
corpus=$(cd "$(dirname "$0")/../fuzz/corpus" && pwd)

# extract FOLDER WIDTH HEIGHT: into FOLDER.out, messages to said
extract() {
    "$planarsfm" extract "$1" -o "$1.out" --camera "PINHOLE,$2,$3,100,100,1,1" --quiet >said 2>&1
}
says() { grep -q -- "$1" said || fail "no '$1' in: $(cat said)"; }
size() { "$planarsfm" extract "$1" -o size.out --camera PINHOLE,1,1,1,1,1,1 --quiet 2>&1 | sed -nE 's/.* has ([0-9]+) x ([0-9]+) pixels.*/\1 \2/p'; }

# Kinds that are read, one folder each; names with blanks and letters beyond ASCII.
for file in "$corpus"/image_jpeg/*.jpg "$corpus"/image_png/*.png; do
    kind=$(basename "$file")
    rm -rf one one.out size.out
    mkdir one
    cp "$file" "one/ein Foto Ö $kind"
    read -r width height <<<"$(size one)"
    extract one "$width" "$height" || fail "$kind: $(cat said)"
    says "1 images: 1 extracted"
done

# Names that promise photographs, files that are none, beside one that is.
mkdir mixed
cp "$corpus/image_jpeg/rgb.jpg" mixed/good.jpg
read -r width height <<<"$(size mixed)"
: >mixed/empty.jpg
echo hello >mixed/text.PNG
echo hello >mixed/notes.txt
printf 'II*\0' >mixed/scan.tif
echo hello >mixed/web.webp
head -c $(($(wc -c <mixed/good.jpg) * 2 / 3)) mixed/good.jpg >mixed/half.jpg
extract mixed "$width" "$height" || fail "$(cat said)"
says "left out: mixed/empty.jpg: not a JPEG, PNG, TIFF.* file"
says "left out: mixed/text.PNG: not a JPEG, PNG, TIFF.* file"
says "left out: mixed/half.jpg: not a sound JPEG file"
says "left out: mixed/scan.tif: not a JPEG, PNG, TIFF.* file"
says "left out: mixed/web.webp: no JPEG, PNG, TIFF.* file; convert it"
says "1 images: 1 extracted, 0 unchanged, 4 left out"
! grep -q notes.txt said || fail "a text is taken for a photograph: $(cat said)"

# Nothing to read.
mkdir none others
refuses 1 "none: no JPEG, PNG, TIFF.* images" "$planarsfm" extract none -o x
echo hello >others/notes.txt
refuses 1 "others: no JPEG, PNG, TIFF.* images in it, but other files such as notes.txt" \
    "$planarsfm" extract others -o x

# Another photograph under an old name, after its features were taken.
source "$(dirname "$0")/photos.sh"
"$planarsfm" run ring/images --cameras ring/gt -o out --pairs sequential:1 --quiet >/dev/null
"$planarsfm" reconstruct out/database.db -o out --images ring/images --quiet >said 2>&1
! grep -q "has changed" said || fail "nothing has changed: $(cat said)"
cp ring/images/cam_0005.jpg ring/images/cam_0002.jpg
"$planarsfm" reconstruct out/database.db -o out --images ring/images --quiet >said 2>&1 || true
says "ring/images/cam_0002.jpg: the file has changed since its features were taken"
