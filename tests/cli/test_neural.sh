# Networks on the command line: what is stored, redone and refused. Their weights are random numbers;
# with PLANARSFM_TEST_DATA the real ones, too, whose poses are evaluated.
source "$(dirname "$0")/lib.sh"
make_weights=$3
source "$(dirname "$0")/photos.sh"
cameras="--cameras ring/gt"
mkdir weights
for network in xfeat lighterglue edgepoint2 superpoint superglue; do
    "$make_weights" $network 1 weights/$network.safetensors
done

# Each kind of features with its matchers; keypoints of random networks are many, so keep few.
small="--max-size 320 --xfeat.max-keypoints 100 --xfeat.threshold 0 --edgepoint2.max-keypoints 100
    --superpoint.max-keypoints 100 --superpoint.threshold 0 --edgepoint2.threshold -1000"
extract() { # KIND OUT OPTIONS...
    local kind=$1 out=$2
    shift 2
    "$planarsfm" extract ring/images $cameras -o "$out" --features "$kind" --weights weights $small \
        --json --quiet "$@" >"$out.json"
}
match() { # OUT OPTIONS...
    local out=$1
    shift
    "$planarsfm" match "$out/database.db" --pairs ring:2 --json --quiet "$@" >"$out.match.json"
}
expect() { # FILE KEY VALUE
    [ "$(number "$1" "$2")" = "$3" ] || fail "$1: $2 is $(number "$1" "$2"), not $3"
}
for kind in superpoint xfeat edgepoint2; do
    extract $kind $kind
    expect $kind.json features $((100 * num_photos))
    grep -q "\"kind\":.*\"$kind\"" $kind.json || fail "the kind is not told: $(cat $kind.json)"
    match $kind --weights weights --superglue.threshold 0 --lightglue.threshold 0
    expect $kind.match.json matched $((2 * num_photos))
    [ "$(number $kind.match.json matches)" -gt 0 ] || fail "no matches of $kind"
done
grep -q '"superglue"' superpoint.match.json || fail "the matcher of superpoint"
grep -q '"lightglue"' xfeat.match.json || fail "the matcher of xfeat"
grep -q '"nn"' edgepoint2.match.json || fail "the matcher of edgepoint2"

# Nothing is done twice; other features, weights or matchers are noticed.
extract xfeat xfeat
expect xfeat.json unchanged "$num_photos"
match xfeat --weights weights --superglue.threshold 0.5 --lightglue.threshold 0
expect xfeat.match.json kept $((2 * num_photos))
match xfeat --weights weights --lightglue.threshold 0.5
expect xfeat.match.json matched $((2 * num_photos))
match xfeat --matcher nn
expect xfeat.match.json matched $((2 * num_photos))
"$make_weights" xfeat 2 other.safetensors
mv other.safetensors weights/xfeat.safetensors
extract xfeat xfeat
expect xfeat.json extracted "$num_photos"
match xfeat --matcher nn
expect xfeat.match.json matched $((2 * num_photos))
extract edgepoint2 xfeat
expect xfeat.json extracted "$num_photos"

# The same bytes for any number of threads.
dump() { sqlite3 "$1/database.db" ".dump keypoints descriptors matches planarsfm_features"; }
if command -v sqlite3 >/dev/null; then
    for kind in superpoint xfeat edgepoint2; do
        for threads in 1 3; do
            extract $kind $kind.$threads --threads $threads
            match $kind.$threads --weights weights --superglue.threshold 0 --lightglue.threshold 0 \
                --threads $threads
            dump $kind.$threads >$kind.$threads.sql
        done
        cmp $kind.1.sql $kind.3.sql || fail "$kind depends on the number of threads"
    done
    sqlite3 xfeat.1/database.db "SELECT DISTINCT cols FROM descriptors" | grep -qx 256 ||
        fail "descriptors are not stored as 4 bytes a float"
    cp xfeat.1/database.db broken.db
    sqlite3 broken.db "UPDATE descriptors SET data = zeroblob(10) WHERE image_id = 2"
    refuses 1 "rows of floats" "$planarsfm" match broken.db --matcher nn --pairs exhaustive
    cp xfeat.1/database.db broken.db
    sqlite3 broken.db "UPDATE planarsfm_features SET kind = 'orb' WHERE image_id = 3"
    refuses 1 "orb features" "$planarsfm" match broken.db --matcher nn
fi
if command -v colmap >/dev/null; then
    colmap database_cleaner --database_path xfeat.1/database.db --type matches >colmap.log 2>&1 ||
        fail "COLMAP does not take the database: $(tail -3 colmap.log)"
fi

# One sentence on what is missing or wrong.
run="$planarsfm run ring/images $cameras -o none"
refuses 2 "needed are XFeat weights" $run --features xfeat
refuses 2 "needed are SuperGlue weights" $run --features superpoint \
    --weights weights/superpoint.safetensors
refuses 2 "LightGlue weights for SuperPoint" $run --features superpoint --matcher lightglue \
    --weights weights
refuses 2 "no XFeat in it" $run --features xfeat --weights weights/superpoint.safetensors \
    --weights weights/lighterglue.safetensors
refuses 1 "No such file.*XFeat weights" $run --features xfeat --matcher nn --weights nowhere
refuses 1 "not a safetensors file" $run --features xfeat --matcher nn --weights ring/gt/images.txt
refuses 2 "cannot match edgepoint2" $run --features edgepoint2 --matcher superglue --weights weights
refuses 2 "cannot match sift" $run --matcher lightglue --weights weights
refuses 2 "sift | superpoint" $run --features orb
cp weights/xfeat.safetensors weights/xfeat2.safetensors # the same twice is no question
"$planarsfm" extract ring/images $cameras -o twice --features xfeat --weights weights --quiet \
    --max-size 320 >/dev/null
"$make_weights" xfeat 3 weights/xfeat2.safetensors
refuses 2 "both weights for XFeat" $run --features xfeat --matcher nn --weights weights
[ ! -e none ] || fail "a refused run left something"

# Real weights give poses.
real=${PLANARSFM_TEST_DATA:-}/neural/weights
set=${PLANARSFM_TEST_DATA:-}/sets/strecha_HerzJesus_P8
if [ -f "$real/xfeat.safetensors" ] && [ -d "$set" ]; then
    for kind in xfeat edgepoint2; do
        "$planarsfm" run "$set/images" --cameras "$set/gt" -o real.$kind --features $kind --quiet \
            --pairs sequential:2 --max-size 800 --xfeat.max-keypoints 1024 \
            --weights "$real/xfeat.safetensors" --weights "$real/edgepoint2_E64.safetensors" \
            --weights "$real/xfeat_lighterglue_L3.safetensors" >/dev/null
        "$planarsfm" eval "$set/gt" real.$kind/model --json >eval.json
        expect eval.json num_registered 8
        at_least "$(number eval.json median_rotation_deg)" 0.5 && fail "$kind: $(cat eval.json)"
    done
else
    echo "PLANARSFM_TEST_DATA is not set: real weights were not tried"
fi
true
