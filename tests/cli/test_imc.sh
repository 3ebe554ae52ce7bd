# The protocol of the Image Matching Challenge on a small rendered scene in its layout.
source "$(dirname "$0")/lib.sh"
make_imc=$(dirname "$3")/make_imc
bench=$(dirname "$planarsfm")/bench/bench_imc
[ -x "$bench" ] || { echo "the benches are not built"; exit 77; }

"$planarsfm" synth field -o data/field --cameras 6 --render.width 480 --quiet >/dev/null
"$make_imc" data/field || fail "no scene"
"$bench" data --json result.json --threads 2 --work work >table.txt
grep -q "^field *3 *2 " table.txt || fail "two bags of three: $(cat table.txt)"
grep -q "^field *5 *1 " table.txt || fail "one bag of five: $(cat table.txt)"
grep -q "^overall *3 " table.txt || fail "three bags: $(cat table.txt)"
at_least "$(number result.json registered_share)" 0.99 || fail "not all are posed: $(cat table.txt)"
at_least "$(sed 's/.*"overall"//' <(tr -d ' \t\n' <result.json) | sed -E 's/.*"auc_max":\{"3":([0-9.]+).*/\1/')" 70 ||
    fail "poses are wrong: $(cat table.txt)"
"$bench" data/field --json again.json --threads 1 >/dev/null
diff result.json again.json || fail "a single scene, or other threads, give other numbers"
"$bench" data/field --max-bags 1 --work work | grep -q "^field *3 *1 " || fail "--max-bags"

refuses 2 "usage" "$bench"
refuses 2 "usage" "$bench" data --mode wild
mkdir -p empty/images
refuses 1 "no lists" "$bench" empty
echo images/nobody.jpg >data/field/sub_set/3bag_009.txt
refuses 1 "nobody.jpg" "$bench" data
rm data/field/sub_set/3bag_009.txt data/field/calibration/calibration_cam_0002.h5
refuses 1 "calibration.*cam_0002" "$bench" data
echo broken >data/field/calibration/calibration_cam_0002.h5
refuses 1 "cam_0002.h5.*HDF5" "$bench" data
