# What does not matter changes nothing: photographs that were there before, the order in which they
# came, names, ids, the order of keypoints and of the two images of a pair, cameras given twice.
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null && command -v python3 >/dev/null ||
    { echo "sqlite3 or python3 is not installed"; exit 77; }
source "$(dirname "$0")/photos.sh"
here=$(dirname "$0")
mapfile -t photos < <(ls ring/images)
run() { # PHOTOGRAPHS OUT [CAMERAS]
    "$planarsfm" run "$1" --cameras "${3:-ring/gt}" --pairs exhaustive -o "$2" --no-report --quiet >/dev/null
}
same() { # A B: the same poses and points, whatever the ids
    python3 "$here/compare_poses.py" "$1/model/0" "$2/model/0" 0 || fail "$1 and $2 differ"
}

# A photograph that was removed: the same as if it had never been there. And it comes back.
cp -r ring/images few
run few out
rm "few/${photos[2]}"
run few out
run few fresh
same out fresh
cp -p "ring/images/${photos[2]}" few
run few out
run ring/images whole
same out whole
# The first ones come last.
mkdir later && for k in 4 5 6 7; do cp -p "ring/images/${photos[$k]}" later; done
run later late
for k in 0 1 2 3; do cp -p "ring/images/${photos[$k]}" later; done
run later late
same late whole

# Photographs under other names, in another order: the same digits.
mkdir renamed && cp -r ring/gt renamed_gt
for k in "${!photos[@]}"; do
    other=$(printf '%04d_%s' $((k * 5 % 8)) "${photos[$k]}")
    cp -p "ring/images/${photos[$k]}" "renamed/$other"
    sed -i "s/ ${photos[$k]}\$/ $other/" renamed_gt/images.txt
done
run renamed by_photo renamed_gt
python3 "$here/compare_poses.py" whole/model/0 by_photo/model/0 1e-6 order || fail "renamed photographs give other poses"

# One database in other words. "renamed" is other names and other ids at once.
"$planarsfm" synth arena -o scene --cameras 12 --outliers 0.3 --matches-only --quiet >/dev/null
cp scene/database.db truth.db
"$planarsfm" reconstruct truth.db -o truth --no-report --quiet >/dev/null
for change in ids names pairs keypoints cameras order renamed; do
    cp scene/database.db "$change.db"
    python3 "$here/reword_database.py" "$change.db" "$change"
    "$planarsfm" reconstruct "$change.db" -o "by_$change" --no-report --quiet >/dev/null
    python3 "$here/compare_poses.py" truth/model/0 "by_$change/model/0" 1e-6 "$change" ||
        fail "other $change give other poses"
done
# People see names in their order all the same.
names() { grep -o '"name":\s*"[^"]*"' "$1" | sed 's/.*: *//; s/.*:\s*//'; }
for file in by_order/summary.json by_order/graph.json by_renamed/summary.json; do
    [ "$(names "$file" | wc -l)" = 12 ] || fail "$file: $(names "$file" | wc -l) names"
    names "$file" | LC_ALL=C sort -c || fail "$file: names are not in order"
done

# The world turned, scaled and shifted: so is what is aligned to it, and nothing else changes.
turn() { python3 "$here/turn_world.py" "$@"; }
turn model scene/gt gt
"$planarsfm" eval scene/gt truth/model --json >here.json
"$planarsfm" eval gt truth/model --json >there.json
for value in 0.5 1 3 median_rotation_deg median_translation_deg position_median_share truth_px; do
    python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(abs(a - b) > 1e-6 * abs(a))' \
        "$(number here.json "$value")" "$(number there.json "$value")" || fail "eval: another $value"
done
python3 "$here/control_points.py" truth/model/0 12 >gcp.txt
sed -i '1,3s/^[^ ]*/0.7/' gcp.txt # a wrong one
"$planarsfm" align truth -o at_first --gcp gcp.txt >table.txt
grep -q '^11 of 12 used' table.txt || fail "$(cat table.txt)"
turn gcp gcp.txt gcp_turned.txt
camera_centers truth/model/0 >positions.txt
turn positions positions.txt positions_turned.txt
for kind in gcp positions; do
    "$planarsfm" align truth -o "here_$kind" "--$kind" $kind.txt >/dev/null
    "$planarsfm" align truth -o "there_$kind" "--$kind" ${kind}_turned.txt >/dev/null
    turn model "here_$kind" "expected_$kind"
    python3 "$here/compare_poses.py" "expected_$kind" "there_$kind" 1e-6 || fail "align --$kind: another world, another model"
done
# A known distance of twice the length: twice the model.
ends=(cam_0001.jpg:600,400 cam_0004.jpg:600,400)
for metres in 10 20; do
    "$planarsfm" reconstruct truth.db -o "long_$metres" --distance "${ends[@]}" $metres --no-report --quiet >/dev/null
done
turn half long_20/model/0 half
python3 "$here/compare_poses.py" long_10/model/0 half 1e-6 || fail "twice the distance is not twice the model"
