# Photographs of a rendered arena registered to the court's lines, one by one: right poses with known
# and with unknown focal lengths, none of a wrong court.
examples=$(cd "$(dirname "$0")/../../python/examples" && pwd)
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/court_poses.sh"
if ! "$planarsfm" synth arena -o hall --cameras 3 --seed 2 --render.width 960 --quiet >/dev/null 2>synth.err ||
    [ ! -d hall/images ]; then
    echo "no rendered photographs: $(cat synth.err)"
    exit 77
fi

"$planarsfm" court hall/images -o known --court basketball --cameras hall/gt --quiet >known.txt
grep -q "^3 of 3 registered" known.txt || fail "known: $(cat known.txt)"
near known/model/0 0.2 0.1
[ "$(ls known/overlay)" = "$(ls hall/images)" ] || fail "overlays: $(ls known/overlay)"
[ "$(number known/court.json accepted)" = 3 ] || fail "court.json"

# The same bytes for any number of threads.
"$planarsfm" court hall/images -o again --court basketball --cameras hall/gt --threads 1 --quiet >/dev/null
diff -r known again || fail "threads change the result"

"$planarsfm" court hall/images -o unknown --court basketball --no-overlay --quiet >unknown.txt
grep -q "^3 of 3 registered" unknown.txt || fail "unknown: $(cat unknown.txt)"
near unknown/model/0 0.5 0.4
[ ! -e unknown/overlay ] || fail "--no-overlay"

for court in tennis volleyball basketball-nba; do
    "$planarsfm" court hall/images -o wrong --court "$court" --cameras hall/gt --no-overlay --quiet >wrong.txt
    grep -q "^0 of 3 registered" wrong.txt || fail "$court: $(cat wrong.txt)"
    [ ! -e wrong/model/0 ] || fail "$court: a model of nothing"
done

# A drawing of one's own: the basketball court's boundary, centre and keys, in decimetres.
cat >floor.json <<'END'
{"name": "floor", "unit": 0.1, "paint": "light",
 "lines": [[-140.5, 75.25, 140.5, 75.25], [-140.5, -75.25, 140.5, -75.25], [140.25, -75, 140.25, 75],
  [-140.25, -75, -140.25, 75], [0, -75, 0, 75], [140, 24.25, 82, 24.25], [140, -24.25, 82, -24.25],
  [-140, 24.25, -82, 24.25], [-140, -24.25, -82, -24.25], [82.25, -24, 82.25, 24], [-82.25, -24, -82.25, 24]],
 "arcs": [[0, 0, 17.75, 0, 360], [124.25, 0, 67.25, 102.12, 257.88], [-124.25, 0, 67.25, -77.88, 77.88]]}
END
"$planarsfm" court hall/images -o own --drawing floor.json --cameras hall/gt --json --quiet >own.json
[ "$(number own.json accepted)" = 3 ] || fail "a drawing of one's own: $(number own.json accepted)"
near own/model/0 0.3 0.2

# The same as SVG, in millimetres on a scale of 1:100, y down.
cat >floor.svg <<'END'
<svg xmlns="http://www.w3.org/2000/svg" width="281mm" height="151mm" viewBox="0 0 281 151">
 <g transform="translate(140.5,75.5)" fill="none" stroke="black" stroke-width="0.5">
  <path d="M-140.5-75.25H140.5M-140.5 75.25H140.5M140.25-75V75M-140.25-75V75M0-75V75"/>
  <rect x="82.25" y="-24.25" width="57.75" height="48.5"/><circle r="17.75"/>
  <rect x="82.25" y="-24.25" width="57.75" height="48.5" transform="rotate(180)"/>
  <path d="M110.125-65.75A67.25 67.25 0 0 0 110.125 65.75M-110.125-65.75A67.25 67.25 0 0 1-110.125 65.75"/>
 </g>
</svg>
END
refuses 1 "floor.svg: .*python/examples/svg_to_drawing.py" "$planarsfm" court hall/images -o x --drawing floor.svg
if command -v python3 >/dev/null; then
    python3 "$examples/svg_to_drawing.py" floor.svg >plan.json
    "$planarsfm" court hall/images -o svg --drawing plan.json --drawing-scale 0.1 --cameras hall/gt --json --quiet >svg.json
    [ "$(number svg.json accepted)" = 3 ] || fail "a drawing from SVG: $(number svg.json accepted)"
fi
refuses 2 "not a positive number" "$planarsfm" court hall/images -o x --drawing floor.json --drawing-scale 0
: >empty.json
refuses 1 "empty.json: there is nothing in it" "$planarsfm" court hall/images -o x --drawing empty.json

refuses 2 "is not allowed (distortion)" "$planarsfm" court hall/images -o x --court tennis --refine focal
refuses 2 "either --court" "$planarsfm" court hall/images -o x
refuses 2 "no court 'chess' (basketball," "$planarsfm" court hall/images -o x --court chess
refuses 2 "not a size" "$planarsfm" court hall/images -o x --court soccer --court-size 3
refuses 1 "nowhere" "$planarsfm" court nowhere -o x --court tennis
refuses 1 "no image is called" "$planarsfm" court known/overlay/.. -o x --court tennis --cameras hall/gt
echo '{"lines": [[0, 0, 1, 0], [0, 1]]}' >bad.json
refuses 1 "bad.json: line 2" "$planarsfm" court hall/images -o x --drawing bad.json
[ ! -e x ] || fail "a refused command left a folder"

# A photograph that cannot be read is a result, not a failure.
mkdir -p mixed && cp hall/images/*1.jpg mixed && printf '\377\330\377\340broken' >mixed/broken.jpg
"$planarsfm" court mixed -o mixed_out --court basketball --quiet >mixed.txt
grep -q "^1 of 2 registered" mixed.txt || fail "mixed: $(cat mixed.txt)"
