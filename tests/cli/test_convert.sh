# Every export is read back by a reader of its own and projects the points to the same pixels.
tests=$(cd "$(dirname "$0")" && pwd)
source "$(dirname "$0")/lib.sh"

# What needs no Python: refusals, and COLMAP's formats into each other.
"$planarsfm" synth arena -o arena --matches-only --cameras 5 --points 60 --quiet >/dev/null
"$planarsfm" convert arena/gt --to colmap-bin -o bin >/dev/null
[ -f bin/images.bin ] && [ ! -f bin/images.txt ] || fail "no binary model"
"$planarsfm" convert bin --to colmap-text -o text >/dev/null
diff -r -x .planarsfm-made arena/gt text || fail "text, binary and text again differ"
refuses 1 "not geo-referenced" "$planarsfm" convert arena/gt --to kml -o x.kml
refuses 1 "not geo-referenced" "$planarsfm" convert arena/gt --to geojson -o x.json
refuses 2 "no format 'nerf'.*transforms.json" "$planarsfm" convert arena/gt --to nerf -o x
refuses 2 "--to is missing" "$planarsfm" convert arena/gt -o x
refuses 2 "-o OUT is missing" "$planarsfm" convert arena/gt --to tum
refuses 1 "nowhere" "$planarsfm" convert nowhere --to tum -o x
refuses 1 "absent.json" "$planarsfm" convert arena/gt --to ply --planes absent.json -o x
echo '{"planes": [{"normal": [0, 0]}]}' >planes.json
refuses 1 "planes.json: plane 0" "$planarsfm" convert arena/gt --to ply --planes planes.json -o x
echo '{"latitude_deg": 91, "longitude_deg": 0, "altitude_m": 0}' >text/geo_reference.json
refuses 1 "not a place on the earth" "$planarsfm" convert text --to kml -o x
: >file
refuses 1 "file/x" "$planarsfm" convert arena/gt --to tum -o file/x
[ ! -e x ] || fail "a refused conversion left a file"

# Planes of a run's other models stay out.
mkdir -p two/model && cp -r arena/gt two/model/0 && cp -r arena/gt two/model/1
plane='"normal": [0, 0, 1], "distance": 0, "points": 9, "sigma": 0.1, "area": 2,
  "polygon": [[0, 0, 0], [2, 0, 0], [0, 2, 0]]'
echo "{\"planes\": [{\"model\": 0, $plane}, {\"model\": 1, $plane}, {\"model\": 1, $plane}]}" >two/planes.json
faces() { "$planarsfm" convert "$@" --to ply -o faces.ply >/dev/null && sed -n 's/^element face //p' faces.ply; }
[ "$(faces two) $(faces two/model/1 --planes two/planes.json) $(faces two/model/1)" = "26 27 25" ] ||
    fail "planes of other models: $(faces two) $(faces two/model/1 --planes two/planes.json)"

python=/usr/bin/python3
if ! $python -c 'import numpy' 2>/dev/null; then
    echo "no python3-numpy: the formats are not read back"
    exit 77
fi
check() { # MODEL FORMAT OUT [MORE]: converts and checks
    "$planarsfm" convert "$1" --to "$2" -o "$3" >/dev/null
    $python "$tests/check_convert.py" check "$@" || fail "$2 of $1"
}
$python "$tests/check_convert.py" make .
mkdir nerf
for model in all one fish; do
    check $model transforms.json nerf/$model.json
done
check one tum one.tum
check all ply all.ply
check all colmap-text all.text
grep -q '^# 0 is cam0/view 0.jpg$' one.tum || fail "names of the times"
sed 's/cam.\/view \([0-9]\)/14037152732621429\1\1/' one/images.txt >numbers.txt
cp -r one timed && mv numbers.txt timed/images.txt
"$planarsfm" convert timed --to tum -o timed.tum >/dev/null
grep -q '^1403715273.262142900 ' timed.tum || fail "times of nanoseconds: $(head -3 timed.tum)"

echo '{"planes": [{"normal": [0, 0, 1], "distance": 0, "points": 9, "sigma": 0.1, "area": 2,
  "polygon": [[0, 0, 0], [2, 0, 0], [0, 2, 0]]}]}' >all/planes.json
"$planarsfm" convert all --to ply -o planes.ply >/dev/null
$python "$tests/check_convert.py" check all ply planes.ply all/planes.json || fail "planes"

cp -r all geo
echo '{"latitude_deg": 50.0755, "longitude_deg": 14.4378, "altitude_m": 234.5}' >geo/geo_reference.json
check geo kml geo.kml 50.0755,14.4378,234.5
check geo geojson geo.json 50.0755,14.4378,234.5
"$planarsfm" convert geo --to colmap-bin -o geo.bin >/dev/null
"$planarsfm" convert geo.bin --to kml -o again.kml >/dev/null
diff geo.kml again.kml || fail "the geo-reference went lost"

# What a format cannot hold.
refuses 1 "camera 4 is FULL_OPENCV.*transforms.json" "$planarsfm" convert full --to transforms.json -o x
refuses 1 "perspective and a fisheye" "$planarsfm" convert mixed --to transforms.json -o x
mkdir fov && cp one/images.txt one/points3D.txt fov
echo "3 FOV 1000 700 700 712 500 350 0.9" >fov/cameras.txt
for format in transforms.json opencv-yaml; do
    refuses 1 "camera 3 is FOV" "$planarsfm" convert fov --to $format -o x
done
for camera in "EUCM 1000 700 700 712 500 350 0.625 1.125" "DIVISION 1000 700 700 712 500 350 -0.125" \
    "EQUIRECTANGULAR 2048 1024 2048 1024" \
    "RAD_TAN_THIN_PRISM_FISHEYE 1000 700 700 712 500 350 0.5 -0.5 0.25 1 -1.5 0.5 0 0 0 0 0 0"; do
    echo "3 $camera" >fov/cameras.txt
    for format in transforms.json opencv-yaml; do
        refuses 1 "camera 3 is ${camera%% *} with parameters" "$planarsfm" convert fov --to $format -o x
    done
    "$planarsfm" convert fov --to colmap-bin -o fov.bin >/dev/null
    "$planarsfm" convert fov.bin --to colmap-text -o fov.text >/dev/null
    diff fov/cameras.txt <(grep -v '^#' fov.text/cameras.txt) || fail "$camera came back as another"
done
[ ! -e x ] || fail "a refused conversion left a file"

if $python -c 'import cv2' 2>/dev/null; then
    for model in all full fish; do
        check $model opencv-yaml $model.cv
    done
else
    echo "no python3-opencv: opencv-yaml is not read back"
fi
if command -v colmap >/dev/null; then
    export QT_QPA_PLATFORM=offscreen
    sed -i 's/view /view/' plain/images.txt # COLMAP reads names without blanks only
    "$planarsfm" convert plain --to colmap-bin -o plain.bin >/dev/null
    mkdir plain.txt
    colmap model_converter --input_path plain.bin --output_path plain.txt --output_type TXT >colmap.log
    $python "$tests/check_convert.py" check plain colmap-text plain.txt || fail "COLMAP reads another model"
else
    echo "no colmap: its converter is not compared"
fi
