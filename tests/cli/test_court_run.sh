# Cameras all round a court, too far apart for matches: its lines pose them, its floor turns them, and
# the model is in the frame of the court.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/court_poses.sh"
if ! "$planarsfm" synth arena -o hall --cameras 5 --seed 3 --render.width 960 --quiet >/dev/null 2>synth.err ||
    [ ! -d hall/images ]; then
    echo "no rendered photographs: $(cat synth.err)"
    exit 77
fi

run() {
    "$planarsfm" run hall/images -o "$1" --court basketball --pairs ring:1 --quiet "${@:2}" >"$1.txt" ||
        fail "$1: $(cat "$1.txt")"
}

run known --cameras hall/gt --threads 2
near known/model/0 0.2 0.1 5
grep -q '"images_by_lines":[[:space:]]*[1-5]' known/summary.json || fail "images that lines hold are not judged by them"
grep -q '^not judged: ' known.txt && fail "there is no verdict: $(cat known.txt)"
grep -q '"drawing":[[:space:]]*"basketball"' known/summary.json || fail "summary: no court"
[ "$(number known/summary.json registered)" = 5 ] || fail "registered: $(number known/summary.json registered)"

# The same bytes for any number of threads.
run again --cameras hall/gt --threads 1
diff -r known/model again/model || fail "threads change the model"

# Focal lengths from the lines.
run unknown
near unknown/model/0 0.3 0.3 5
grep -q '"source":[[:space:]]*"lines"' unknown/summary.json || fail "focal lengths are not from the lines"

# A model of another size finds back to the court by itself.
names=(hall/images/*.jpg)
"$planarsfm" align known -o moved --distance "${names[0]##*/}" "${names[2]##*/}" 1 --quiet >/dev/null || fail "align --distance"
"$planarsfm" align moved -o back --court basketball --images hall/images --quiet >back.txt || fail "align --court: $(cat back.txt)"
near back 0.2 0.1 5
refuses 2 "or the photographs" "$planarsfm" align moved -o x --court basketball

refuses 2 "needs the photographs" "$planarsfm" reconstruct known/database.db -o x --court basketball
refuses 2 "no court 'chess'" "$planarsfm" run hall/images -o y --court chess --pairs ring:1
refuses 2 "one of them" "$planarsfm" run hall/images -o z --court tennis --drawing z.json --pairs ring:1
