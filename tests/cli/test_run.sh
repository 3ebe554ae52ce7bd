# From photographs to evaluated poses; the same bytes in one go or three, and what is refused.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/photos.sh"
cameras="--cameras ring/gt"

"$planarsfm" run ring/images $cameras -o one --pairs ring:2 --effort high --threads 1 --json --quiet \
    >one.json
diff one.json one/summary.json || fail "--json is not the summary"
"$planarsfm" extract ring/images $cameras -o two --threads 2 --quiet >/dev/null
"$planarsfm" match two/database.db --pairs ring:2 --threads 2 --quiet >/dev/null
"$planarsfm" reconstruct two/database.db -o two --images ring/images --threads 2 --quiet >/dev/null
diff -r one/model two/model || fail "one command and three differ"

# Effort: small photographs get what they need at once; larger ones nothing, for their planes can be aligned in the
# photographs, unless these planes are given up.
field() { # WIDTH OUT FLAGS...: poses of photographs of that width
    local width=$1 out=$2
    shift 2
    [ -d "field$width" ] ||
        "$planarsfm" synth field -o "field$width" --cameras 8 --render.width "$width" --quiet >/dev/null
    "$planarsfm" run "field$width/images" --cameras "field$width/gt" -o "$out" --pairs ring:2 --json --quiet "$@" \
        >"$out.json"
}
second_pass() { # RUN EFFORT: how many photographs got it
    python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["photographs"]["second_pass"][sys.argv[2]]))' \
        "$1/summary.json" "$2"
}
field 240 small.high --effort high --threads 1
field 240 small --threads 2
diff -r small.high/model small/model || fail "small photographs did not get the high effort that they need"
field 640 normal --effort normal --threads 1
field 640 held --threads 2
[ "$(second_pass held high)" = 0 ] || fail "photographs got more than they need"
diff -r normal/model held/model || fail "nothing got more features, but the model is another"
loose="--photo-plane.min-matches 100000"
field 640 loose.high --effort high --threads 1 $loose
field 640 loose --threads 2 $loose
[ "$(second_pass loose high)" = 8 ] || fail "$(second_pass loose high) of 8 photographs without patches got more features"
diff -r loose.high/model loose/model || fail "a second pass after the alignment gives another model"
field 640 loose --threads 1 $loose
diff -r loose.high/model loose/model || fail "a second run changed the model"
[ "$(number loose.json matched)" = 0 ] || fail "the second run matched $(number loose.json matched) pairs"
field 640 loose --threads 1
diff -r held/model loose/model || fail "an effort decided by other criteria was kept"

# A doubtful result, as that of any chain: all photographs get normal effort, and a second run finds that decision.
"$planarsfm" synth field -o walk --cameras 6 --render.width 900 --quiet >/dev/null
walk() { # OUT FLAGS...
    local out=$1
    shift
    "$planarsfm" run walk/images --cameras walk/gt -o "$out" --pairs sequential:1 --json "$@" >"$out.json" 2>"$out.err"
}
walk walk.normal --effort normal --threads 1
walk doubted --threads 2
grep -q "once more with more features" doubted.err || fail "no second try of a doubtful result"
[ "$(second_pass doubted normal)" = 6 ] || fail "$(second_pass doubted normal) of 6 doubtful photographs got more features"
diff -r walk.normal/model doubted/model || fail "after a doubt the model is not that of normal effort"
walk doubted --threads 1
diff -r walk.normal/model doubted/model || fail "a second run changed the model after a doubt"
[ "$(number doubted.json matched)" = 0 ] || fail "the second run matched $(number doubted.json matched) pairs"

[ -z "$(find . -name '*.tmp' -o -name '*-journal')" ] || fail "temporary files stayed"
for key in extraction matching intrinsics pairs_rule folder; do
    grep -q "\"$key\"" one/summary.json || fail "no $key in the summary"
done
grep -v '^#' one/model/0/points3D.txt | cut -d' ' -f5-7 | sort -u >colours
[ "$(wc -l <colours)" -gt 10 ] || fail "points have no colours"
"$planarsfm" eval ring/gt one/model --json >eval.json
[ "$(number eval.json num_registered)" = "$num_photos" ] || fail "not all are posed: $(cat eval.json)"
at_least "$(number eval.json median_rotation_deg)" 0.5 && fail "poses are wrong: $(cat eval.json)"

# Nothing is done twice; a changed photograph and its pairs are.
again() { # EXTRACTED UNCHANGED MATCHED KEPT: runs once more into one
    "$planarsfm" run ring/images $cameras -o one --pairs ring:2 --effort high --json --quiet >again.json
    local got="$(number again.json extracted) $(number again.json unchanged)"
    got="$got $(number again.json matched) $(number again.json kept)"
    [ "$got" = "$*" ] || fail "extracted, unchanged, matched, kept: $got, not $*"
}
photos=(ring/images/*)
last=${photos[-1]}
again 0 "$num_photos" 0 $((2 * num_photos))
diff -r one/model two/model || fail "a second run changed the model"
cp -p "$last" kept.photo
cp "${photos[0]}" "$last"
again 1 $((num_photos - 1)) 4 $((2 * num_photos - 4))
if diff -r one/model two/model >/dev/null; then fail "a replaced photograph changed nothing"; fi
cp -p kept.photo "$last"
again 1 $((num_photos - 1)) 4 $((2 * num_photos - 4))
diff -r one/model two/model || fail "the old photograph does not give the old model"
rm "$last"
"$planarsfm" run ring/images $cameras -o one --pairs ring:2 --json --quiet >less.json
[ "$(number less.json removed)" = 1 ] || fail "a missing photograph was not removed"
[ "$(number less.json images_total)" = $((num_photos - 1)) ] || fail "a missing photograph stayed"
cp -p kept.photo "$last"
"$planarsfm" run ring/images $cameras -o one --pairs ring:1 --json --quiet >ring1.json
[ "$(number ring1.json pairs_from_matches)" = "$num_photos" ] || fail "pairs of the earlier rule stayed"

# Intrinsics.
first=$(basename "${photos[0]}")
refuses 2 "share-cameras" "$planarsfm" extract ring/images -o none --share-cameras some
"$planarsfm" run ring/images -o blind --share-cameras all --pairs ring:2 --json --quiet >blind.json 2>blind.err
[ "$(number blind.json images_posed)" = "$num_photos" ] || fail "not all are posed without intrinsics"
[ "$(number blind.json focal_px_before)" = 576 ] || fail "the guess is not 1.2 times the longer side"
at_least "$(number blind.json focal_px)" 427 && ! at_least "$(number blind.json focal_px)" 473 ||
    fail "the focal length is not within 5 % of 450 px"
refuses 1 "pixels, its camera" "$planarsfm" extract ring/images -o none \
    --camera PINHOLE,20,10,9,9,10,5
refuses 2 "parameters" "$planarsfm" extract ring/images -o none --camera PINHOLE,20,10,9
refuses 2 "camera model" "$planarsfm" extract ring/images -o none --camera LENS,20,10,9
# The cameras of an earlier run, by the folder of its results.
"$planarsfm" extract ring/images --cameras one -o as_before --quiet | grep -q "cameras of a COLMAP model" ||
    fail "--cameras with the results of a run"
refuses 2 "exclude" "$planarsfm" extract ring/images -o none $cameras --camera PINHOLE,20,10,9
refuses 2 "either -o" "$planarsfm" extract ring/images $cameras
sed "s/$first/other.jpg/" ring/gt/images.txt >images.txt
mkdir partial && cp ring/gt/cameras.txt ring/gt/points3D.txt images.txt partial
"$planarsfm" extract ring/images -o others --cameras partial --sift.max-num-features 100 --quiet >others.txt 2>&1
grep -q "left out: partial: no image is called $first" others.txt || fail "no warning: $(cat others.txt)"
{ grep '^#' ring/gt/cameras.txt || true; grep -v '^#' ring/gt/cameras.txt | head -1; } >cameras.txt
"$planarsfm" extract ring/images -o single --cameras cameras.txt --opencv-pixels --json \
    --sift.max-num-features 100 --quiet >single.json
grep -q "one given camera" single.json || fail "the source of the intrinsics"

# What is not a good photograph.
refuses 1 "nowhere" "$planarsfm" run nowhere $cameras -o none
mkdir empty && : >empty/note.txt
refuses 1 "no JPEG, PNG" "$planarsfm" run empty $cameras -o none
mkdir mixed masks && cp "${photos[0]}" "${photos[1]}" mixed && : >mixed/note.txt
head -c 3000 "${photos[2]}" >"mixed/$(basename "${photos[2]}")"
"$planarsfm" extract mixed $cameras -o mixed.out --json >mixed.json 2>mixed.err
[ "$(number mixed.json images) $(number mixed.json other_files)" = "2 1" ] || fail "$(cat mixed.json)"
grep -q "left out: .*$(basename "${photos[2]}")" mixed.err || fail "the broken file is not named"
"$planarsfm" synth arena -o other --matches-only --cameras 3 --quiet >/dev/null
refuses 1 "not extracted by planarsfm" "$planarsfm" extract ring/images -o other $cameras

# An output that cannot be written: one sentence.
: >file
refuses 1 "file" "$planarsfm" run ring/images $cameras -o file/out
full_disk() { # every file ends at 100 kB
    (trap '' XFSZ && ulimit -f 100 && exec "$planarsfm" extract ring/images $cameras -o full --quiet)
}
refuses 1 "full/database.db" full_disk
if command -v sqlite3 >/dev/null; then
    (echo "BEGIN IMMEDIATE;" && sleep 13) | sqlite3 two/database.db &
    sleep 1
    refuses 1 "another program" "$planarsfm" run ring/images $cameras -o two --quiet
    wait
fi
