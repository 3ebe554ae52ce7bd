# Cameras all round a court, too far apart for matches: its lines pose them, its floor turns them, and
# the model is in the frame of the court.
source "$(dirname "$0")/lib.sh"
if ! "$planarsfm" synth arena -o hall --cameras 5 --seed 3 --render.width 960 --quiet >/dev/null 2>synth.err ||
    [ ! -d hall/images ]; then
    echo "no rendered photographs: $(cat synth.err)"
    exit 77
fi

# near MODEL DEGREES METRES: all images are where the truth has them, or all on the turned court.
near() {
    awk -v max_deg="$2" -v max_m="$3" '
        function centre(w, x, y, z, a, b, c) { # -R^T t
            C[1] = -((1-2*(y*y+z*z))*a + 2*(x*y+w*z)*b + 2*(x*z-w*y)*c)
            C[2] = -(2*(x*y-w*z)*a + (1-2*(x*x+z*z))*b + 2*(y*z+w*x)*c)
            C[3] = -(2*(x*z+w*y)*a + 2*(y*z-w*x)*b + (1-2*(x*x+y*y))*c)
        }
        function acos(c) { c = c > 1 ? 1 : c; return atan2(sqrt(1 - c * c), c) }
        function abs(v) { return v < 0 ? -v : v }
        NF != 10 || /^#/ { next }
        { centre($2, $3, $4, $5, $6, $7, $8) }
        FNR == NR { for (k = 2; k <= 5; ++k) q[$10, k] = $k; for (k = 1; k <= 3; ++k) c[$10, k] = C[k]; next }
        {
            same = abs(q[$10,2]*$2 + q[$10,3]*$3 + q[$10,4]*$4 + q[$10,5]*$5)
            turned = abs(-q[$10,5]*$2 + q[$10,4]*$3 - q[$10,3]*$4 + q[$10,2]*$5) # q (0, 0, 0, 1)
            s = same > turned ? 1 : -1
            sum += s
            angle = 114.59156 * acos(same > turned ? same : turned)
            away = sqrt((C[1] - s*c[$10,1])^2 + (C[2] - s*c[$10,2])^2 + (C[3] - c[$10,3])^2)
            if (angle > max_deg || away > max_m) { print $10, angle, "deg", away, "m"; bad = 1 }
            ++num
        }
        END { if (abs(sum) != num) print "turned both ways"; exit bad || num != 5 || abs(sum) != num }' \
        hall/gt/images.txt "$1/images.txt" || fail "poses of $1"
}

run() {
    "$planarsfm" run hall/images -o "$1" --court basketball --pairs ring:1 --quiet "${@:2}" >"$1.txt" ||
        fail "$1: $(cat "$1.txt")"
}

run known --cameras hall/gt --threads 2
near known/model/0 0.2 0.1
grep -q '"drawing":[[:space:]]*"basketball"' known/summary.json || fail "summary: no court"
[ "$(number known/summary.json registered)" = 5 ] || fail "registered: $(number known/summary.json registered)"

# The same bytes for any number of threads.
run again --cameras hall/gt --threads 1
diff -r known/model again/model || fail "threads change the model"

# Focal lengths from the lines.
run unknown
near unknown/model/0 0.3 0.3
grep -q '"source":[[:space:]]*"lines"' unknown/summary.json || fail "focal lengths are not from the lines"

# A model of another size finds back to the court by itself.
names=(hall/images/*.jpg)
"$planarsfm" align known -o moved --distance "${names[0]##*/}" "${names[2]##*/}" 1 --quiet >/dev/null || fail "align --distance"
"$planarsfm" align moved -o back --court basketball --images hall/images --quiet >back.txt || fail "align --court: $(cat back.txt)"
near back 0.2 0.1
refuses 2 "or the photographs" "$planarsfm" align moved -o x --court basketball

refuses 2 "needs the photographs" "$planarsfm" reconstruct known/database.db -o x --court basketball
refuses 2 "no court 'chess'" "$planarsfm" run hall/images -o y --court chess --pairs ring:1
refuses 2 "one of them" "$planarsfm" run hall/images -o z --court tennis --drawing z.json --pairs ring:1
