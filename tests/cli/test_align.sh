# A reconstruction comes back to the true frame by every kind of knowledge about the world.
source "$(dirname "$0")/lib.sh"

"$planarsfm" synth arena -o arena --matches-only --cameras 12 --points 400 --off-plane 0.3 --quiet >/dev/null
"$planarsfm" reconstruct arena/database.db -o arena/out --quiet >/dev/null
awk '!/^#/ && NF == 10 {
    w = $2; x = $3; y = $4; z = $5; a = $6; b = $7; c = $8
    print $10, -((1-2*(y*y+z*z))*a + 2*(x*y+z*w)*b + 2*(x*z-y*w)*c), \
               -(2*(x*y-z*w)*a + (1-2*(x*x+z*z))*b + 2*(y*z+x*w)*c), \
               -(2*(x*z+y*w)*a + 2*(y*z-x*w)*b + (1-2*(x*x+y*y))*c)
}' arena/gt/images.txt >positions.txt
[ "$(wc -l <positions.txt)" = 12 ] || fail "no true positions"

# within METRES MODEL: every camera of the model is that close to its true position.
within() {
    "$planarsfm" align "$2" -o check --positions positions.txt --json >check.json
    local scale
    scale=$(number check.json scale)
    at_least 0.002 "$(awk -v s="$scale" 'BEGIN { print (s > 1 ? s - 1 : 1 - s) }')" ||
        fail "$2: the scale is off by $scale"
    awk '!/^#/ && NF == 10 { print $10, $6, $7, $8 }' check/images.txt >after.txt
    awk '!/^#/ && NF == 10 { print $10, $6, $7, $8 }' "$2/images.txt" >before.txt
    paste before.txt after.txt | awk -v d="$1" '
        { for (k = 2; k <= 4; ++k) if (($k - $(k + 4))^2 > d^2) { print; bad = 1 } } END { exit bad }' ||
        fail "$2: not in the true frame"
}

# Positions, one of them wrong, one of an image that is not there.
sed 's/^cam_0003.jpg [^ ]*/cam_0003.jpg 99/' positions.txt >wrong.txt
echo "nobody.jpg 1 2 3" >>wrong.txt
"$planarsfm" align arena/out -o by_positions --positions wrong.txt >table.txt
grep -q '^cam_0003.jpg .*left out' table.txt || fail "the wrong position: $(cat table.txt)"
grep -q '^11 of 12 used' table.txt || fail "$(cat table.txt)"
grep -q '^alignment: right; places at random fit so well once in 10^' table.txt || fail "$(cat table.txt)"
[ -f by_positions/planes.json ] || fail "the planes stayed behind"
grep -q '"label":	"cam_0003.jpg"' by_positions/alignment.json || fail "no residuals in alignment.json"
grep -q '</html>' by_positions/report.html || fail "no page of the aligned model"
"$planarsfm" align arena/out -o by_positions --positions wrong.txt --no-report >/dev/null
[ ! -f by_positions/report.html ] || fail "an old page beside a new model"
"$planarsfm" report by_positions >/dev/null
grep -q '"alignment":' by_positions/report.html || fail "report does not find the alignment"
grep -q 'arena/out' by_positions/report.html && fail "the page tells where the run lies"
within 0.1 by_positions

# Four court points and more, seen by a true camera: where the points of the truth are seen tells.
project() { # X Y IMAGE: its pixel, by the true pose and the camera of the scene
    awk -v X="$1" -v Y="$2" -v name="$3" '!/^#/ && NF == 10 && $10 == name {
        w = $2; x = $3; y = $4; z = $5
        u = (1-2*(y*y+z*z))*X + 2*(x*y-z*w)*Y + $6
        v = 2*(x*y+z*w)*X + (1-2*(x*x+z*z))*Y + $7
        d = 2*(x*z-y*w)*X + 2*(y*z+x*w)*Y + $8
        printf "%.6f %.6f\n", 1200*u/d + 640, 1200*v/d + 360 }' arena/gt/images.txt
}
{
    echo "corner-w-n cam_0001.jpg $(project -14 7.5 cam_0001.jpg)"
    echo "corner-e-s cam_0001.jpg $(project 14 -7.5 cam_0001.jpg)"
    echo "half-n cam_0004.jpg $(project 0 7.5 cam_0004.jpg)"
    echo "half-s cam_0004.jpg $(project 0 -7.5 cam_0004.jpg)"
    echo "elbow-w-s cam_0008.jpg $(project -8.2 -2.45 cam_0008.jpg)"
    echo "circle-n cam_0008.jpg $(project 3 3 cam_0008.jpg)" # mislabelled
    echo "half-n cam_0008.jpg $(project 0 7.5 cam_0008.jpg)"
} >court.txt
"$planarsfm" align arena/out -o by_court --court basketball --court-points court.txt >table.txt
grep -q '^circle-n .*left out' table.txt || fail "the wrong label: $(cat table.txt)"
grep -q '^5 of 6 used' table.txt || fail "$(cat table.txt)"
grep -q '"strokes"' by_court/alignment.json || fail "the court is not in alignment.json"
within 0.1 by_court
awk '{ print $3 - 0.5, $4 - 0.5, $1, $2 }' court.txt | awk '{ print $3, $4, $1, $2 }' >court0.txt
"$planarsfm" align arena/out -o by_court0 --court basketball --court-points court0.txt --opencv-pixels >/dev/null
within 0.1 by_court0

# The same places as control points, on the grid of UTM zone 33: a geo-referenced model.
{
    echo "WGS84 UTM 33N"
    while read -r x y image; do
        echo "$(awk -v x="$x" -v y="$y" 'BEGIN { printf "%.4f %.4f", 500000 + 0.9996*x, 5000000 + 0.9996*y }') 200 $(project "$x" "$y" "$image") $image"
    done <<'POINTS'
-14 7.5 cam_0001.jpg
14 -7.5 cam_0001.jpg
0 7.5 cam_0004.jpg
0 -7.5 cam_0004.jpg
-8.2 -2.45 cam_0008.jpg
POINTS
} >gcp.txt
"$planarsfm" align arena/out -o by_gcp --gcp gcp.txt >table.txt
grep -q '^5 of 5 used' table.txt || fail "$(cat table.txt)"
"$planarsfm" convert by_gcp --to geojson -o cameras.json >/dev/null
grep -q '"coordinates":.*\[1[45].[0-9]*,.*45.1[0-9]*' cameras.json || fail "not where it should be: $(head -20 cameras.json)"
"$planarsfm" align by_gcp -o again --positions positions.txt >/dev/null
[ ! -e again/geo_reference.json ] || fail "a geo-reference of another frame"

# Degrees for cameras.
awk '{ printf "%s %.9f %.9f %.4f\n", $1, 45 + $3/111131.75, 15 + $2/78846.8, $4 + 100 }' positions.txt >geo.txt
"$planarsfm" align arena/out -o by_geo --geo-positions geo.txt >/dev/null
"$planarsfm" convert by_geo --to kml -o cameras.kml >/dev/null
grep -q '<name>cam_0001.jpg</name>.*<coordinates>1[45]\.[0-9]*,4[45]\.[0-9]*,1[0-9][0-9]\.' cameras.kml || fail "$(cat cameras.kml)"

# Upright and a known distance.
"$planarsfm" align by_gcp -o upright --upright \
    --distance "cam_0004.jpg:$(project 0 7.5 cam_0004.jpg | tr ' ' ,)" \
    "cam_0004.jpg:$(project 0 -7.5 cam_0004.jpg | tr ' ' ,)" 15 >/dev/null
"$planarsfm" align upright -o check --positions positions.txt --json >check.json
at_least 0.002 "$(awk -v s="$(number check.json scale)" 'BEGIN { print (s > 1 ? s - 1 : 1 - s) }')" || fail "scale by distance"

# GPS of photographs, in files that consist of nothing else.
if command -v /usr/bin/python3 >/dev/null; then
    mkdir gps
    /usr/bin/python3 - <<'EOF_PY'
import struct

def entry(tag, kind, count, value):
    return struct.pack(">HHI4s", tag, kind, count, value)

for line in open("geo.txt"):
    name, lat, lon, alt = line.split()
    offset = 8 + 18 + 2 + 6 * 12 + 4  # rationals behind the two folders of entries
    gps = struct.pack(">H", 6) + entry(1, 2, 2, b"N\0\0\0") + entry(2, 5, 3, struct.pack(">I", offset))
    gps += entry(3, 2, 2, b"E\0\0\0") + entry(4, 5, 3, struct.pack(">I", offset + 24))
    gps += entry(5, 1, 1, b"\0\0\0\0") + entry(6, 5, 1, struct.pack(">I", offset + 48)) + bytes(4)
    def angle(value):
        d = int(float(value)); m = int((float(value) - d) * 60)
        s = round(((float(value) - d) * 60 - m) * 60 * 1000000)
        return struct.pack(">6I", d, 1, m, 1, s, 1000000)
    data = angle(lat) + angle(lon) + struct.pack(">2I", round(float(alt) * 10000), 10000)
    tiff = b"MM\0*" + struct.pack(">I", 8) + struct.pack(">H", 1) + entry(0x8825, 4, 1, struct.pack(">I", 26)) + bytes(4)
    body = b"Exif\0\0" + tiff + gps + data
    if name != "cam_0007.jpg":  # one has been lost
        open("gps/" + name, "wb").write(b"\xff\xd8\xff\xe1" + struct.pack(">H", len(body) + 2) + body + b"\xff\xd9")
EOF_PY
    "$planarsfm" align arena/out -o by_exif --exif gps >table.txt
    grep -q '^11 of 11 used: root mean square 0.0' table.txt || fail "$(cat table.txt)"
    "$planarsfm" convert by_exif --to kml -o exif.kml >/dev/null
    diff <(grep -o '<coordinates>[0-9]*\.[0-9]\{4\}' exif.kml) \
        <(grep -o '<coordinates>[0-9]*\.[0-9]\{4\}' cameras.kml) || fail "EXIF and a file of positions differ"
fi
refuses 1 "0 of the model's images" "$planarsfm" align arena/out -o x --exif arena
refuses 1 "nowhere" "$planarsfm" align arena/out -o x --exif nowhere
# Bad use, bad files.
refuses 2 "one of --positions" "$planarsfm" align arena/out -o x
refuses 2 "one of --positions" "$planarsfm" align arena/out -o x --positions a --gcp b
awk '{ print $1, (NR * 7919) % 31, (NR * 104729) % 29, (NR * 1299709) % 23 }' positions.txt >random.txt
refuses 1 "as places at random would" "$planarsfm" align arena/out -o x --positions random.txt
refuses 2 "-o OUT" "$planarsfm" align arena/out --upright
refuses 2 "--court-points" "$planarsfm" align arena/out -o x --court tennis
refuses 2 "no court 'curling'" "$planarsfm" align arena/out -o x --court curling --court-points court.txt
refuses 2 "court-size" "$planarsfm" align arena/out -o x --court soccer --court-points court.txt --court-size 5,5
refuses 1 "court.txt: line 3: tennis has no point 'half-n'" "$planarsfm" align arena/out -o x --court tennis --court-points court.txt
head -3 court.txt >three.txt
refuses 1 "four labelled points" "$planarsfm" align arena/out -o x --court basketball --court-points three.txt
refuses 1 "missing.txt" "$planarsfm" align arena/out -o x --gcp missing.txt
echo "1 2 3" >short.txt
refuses 1 "short.txt: line 1" "$planarsfm" align arena/out -o x --gcp short.txt
head -2 positions.txt >two.txt
refuses 1 "2 of the model's" "$planarsfm" align arena/out -o x --positions two.txt
refuses 2 "not a positive number" "$planarsfm" align arena/out -o x --distance cam_0001.jpg cam_0002.jpg long
refuses 2 "neither an image" "$planarsfm" align arena/out -o x --distance cam_0001.jpg nobody 3
[ ! -e x ] || fail "a refused alignment left a model"

# Two models side by side: the aligned one is the true one but for the noise.
"$planarsfm" compare arena/gt by_court --json >compare.json
[ "$(number compare.json common)" = 12 ] || fail "$(cat compare.json)"
at_least 0.1 "$(number compare.json max_position)" || fail "$(cat compare.json)"
at_least 0.2 "$(number compare.json max_rotation_deg)" || fail "$(cat compare.json)"
"$planarsfm" compare arena/gt arena/gt >same.txt
grep -q '^rotation: median 0.000000, largest 0.000000 degrees' same.txt || fail "$(cat same.txt)"
refuses 1 "nowhere" "$planarsfm" compare arena/gt nowhere
