# What does not matter changes nothing: photographs that were there before, the order in which they
# came, names, ids, the order of keypoints and of the two images of a pair, cameras given twice.
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null && command -v python3 >/dev/null ||
    { echo "sqlite3 or python3 is not installed"; exit 77; }
source "$(dirname "$0")/photos.sh"
here=$(dirname "$0")
mapfile -t photos < <(ls ring/images)
run() { "$planarsfm" run "$1" --cameras ring/gt --pairs exhaustive -o "$2" --no-report --quiet >/dev/null; }
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

# One database in other words.
"$planarsfm" synth arena -o scene --cameras 12 --outliers 0.3 --matches-only --quiet >/dev/null
cp scene/database.db truth.db
"$planarsfm" reconstruct truth.db -o truth --no-report --quiet >/dev/null
# Names in another order change the order of sums and ties, and so the estimates within their scatter.
for change in ids names pairs keypoints cameras order; do
    limit=1e-6
    [ "$change" != order ] || limit=0.02
    cp scene/database.db "$change.db"
    python3 "$here/reword_database.py" "$change.db" "$change"
    "$planarsfm" reconstruct "$change.db" -o "by_$change" --no-report --quiet >/dev/null
    python3 "$here/compare_poses.py" truth/model/0 "by_$change/model/0" "$limit" "$change" ||
        fail "other $change give other poses"
done
