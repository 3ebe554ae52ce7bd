# Killed in the middle of a stage, a run goes on where it stopped and ends with the same models.
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
source "$(dirname "$0")/photos.sh"

run=("$planarsfm" run ring/images --cameras ring/gt --pairs exhaustive --effort high)
"${run[@]}" -o whole --quiet >/dev/null

rows() { # TABLE: its number of rows, 0 if it cannot be read
    sqlite3 -readonly out/database.db "SELECT COUNT(*) FROM $1" 2>/dev/null || echo 0
}
# kill_when CONDITION: starts a run with one thread and kills it when the condition holds.
kill_when() {
    "${run[@]}" -o out --threads 1 >/dev/null 2>killed.log &
    local pid=$!
    while kill -0 "$pid" 2>/dev/null && ! eval "$1"; do sleep 0.01; done
    kill -9 "$pid" 2>/dev/null || fail "it was over before '$1': $(cat killed.log)"
    wait "$pid" 2>/dev/null || true
}
finish() {
    "${run[@]}" -o out >/dev/null 2>resumed.log
    diff -r whole/model out/model || fail "the resumed run has another model"
    for file in planes.json planes.ply; do
        cmp "whole/$file" "out/$file" || fail "the resumed run has another $file"
    done
    [ -z "$(find out -name '*.tmp' -o -name '*-journal')" ] || fail "temporary files stayed"
}

kill_when '[ -e out/database.db ]'
finish
rm -rf out
kill_when '[ "$(rows keypoints)" -gt 0 ]'
num=$(rows keypoints)
finish
grep -q " $num unchanged" resumed.log || fail "features were made twice: $(cat resumed.log)"
rm -rf out
kill_when '[ "$(rows matches)" -gt 0 ]'
num=$(rows matches)
finish
grep -q " $num there before" resumed.log || fail "pairs were matched twice: $(cat resumed.log)"
rm -rf out
kill_when 'grep -q there.before killed.log'
finish
# Photographs that get more features after the first matches: killed before, and while they get them.
run=("${run[@]/high/auto}")
"${run[@]}" -o whole --quiet >/dev/null
for condition in '[ "$(rows matches)" -gt 0 ]' '[ "$(rows planarsfm_spent)" -gt 0 ]'; do
    rm -rf out
    kill_when "$condition"
    finish
done
# The same after their planes were aligned: killed before it is decided, and after.
"$planarsfm" synth field -o wide --cameras 8 --render.width 640 --quiet >/dev/null
narrow=("${run[@]}")
run=("$planarsfm" run wide/images --cameras wide/gt --pairs ring:2 --photo-plane.min-matches 100000)
mv whole narrow.whole
"${run[@]}" -o whole --quiet >/dev/null
for condition in '[ "$(rows planarsfm_spent)" -gt 0 ]' 'grep -q "need more" killed.log'; do
    rm -rf out
    kill_when "$condition"
    finish
done
run=("${narrow[@]}")
rm -rf whole out
mv narrow.whole whole
# The writing of the results, too: over and over into the same folder.
for delay in 0.02 0.05 0.1 0.2; do
    "${run[@]}" -o out >/dev/null 2>&1 &
    sleep "$delay"
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
done
finish

# A journal that a killed writer left is rolled back by readers.
cp out/database.db hot.db
sqlite3 hot.db "PRAGMA cache_size = 5; BEGIN; UPDATE descriptors SET data = zeroblob(200000);" \
    ".shell cp hot.db hot2.db; cp hot.db-journal hot2.db-journal" >/dev/null
[ -s hot2.db-journal ] || fail "no journal was left"
"$planarsfm" reconstruct hot2.db -o hot --images ring/images --quiet >/dev/null
diff -r whole/model hot/model || fail "the rolled-back database has another model"
