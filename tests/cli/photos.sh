# Photographs for the tests of run: ring/images and ring/gt, a small rendered scene. Sourced after
# lib.sh.
if ! "$planarsfm" synth field -o ring --cameras 8 --render.width 480 --quiet >/dev/null 2>synth.err ||
    [ ! -d ring/images ]; then
    echo "no rendered photographs: $(cat synth.err)"
    exit 77
fi
num_photos=8
