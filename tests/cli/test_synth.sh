# Photographs of synthetic scenes: there, small if asked, the same for any number of threads.
source "$(dirname "$0")/lib.sh"

for scene in arena field room facade; do
    "$planarsfm" synth "$scene" -o "$scene" --cameras 3 --render.width 96 --quiet >/dev/null
    [ "$(find "$scene/images" -name 'cam_000[123].jpg' -size +1k | wc -l)" = 3 ] || fail "$scene: images"
    [ "$(grep -c 'jpg$' "$scene/gt/images.txt")" = 3 ] || fail "$scene: poses"
    grep -q '^1 PINHOLE 96 54 90 ' "$scene/gt/cameras.txt" || fail "$scene: camera"
done
for scene in turntable statue board mug; do
    "$planarsfm" synth "$scene" -o "$scene" --cameras 3 --render.width 96 --quiet >/dev/null
    [ "$(find "$scene/images" -name 'cam_000[123].jpg' -size +1k | wc -l)" = 3 ] || fail "$scene: images"
    [ "$(grep -c 'jpg$' "$scene/gt/images.txt")" = 3 ] || fail "$scene: poses"
    refuses 2 "$scene" "$planarsfm" synth "$scene" -o "$scene" --matches-only
done
"$planarsfm" synth arena -o again --cameras 3 --render.width 96 --threads 3 --quiet >/dev/null
diff -r arena again || fail "the same command gave other bytes"
"$planarsfm" synth arena -o again --cameras 3 --render.width 96 --seed 1 --quiet >/dev/null
! diff -rq arena/images again/images >/dev/null || fail "another seed gave the same bytes"

refuses 2 "general" "$planarsfm" synth general -o general
refuses 2 "city" "$planarsfm" synth city -o city
"$planarsfm" synth city -o city --cameras 46 --matches-only --quiet | grep -q '^46 images' || fail "city"
refuses 2 "not allowed" "$planarsfm" synth room -o room --render.width 5
[ ! -e general ] || fail "a refused scene left $(find general)"
echo mine >room/images/notes.txt
refuses 2 "notes.txt" "$planarsfm" synth room -o room --cameras 2
[ -s room/images/notes.txt ] && [ -s room/images/cam_0003.jpg ] || fail "somebody's files are gone"
