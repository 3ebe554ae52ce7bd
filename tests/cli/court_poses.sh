# For the tests of courts: poses of a rendered hall, hall/gt, up to the half turn of its court.
# near MODEL DEGREES METRES [NUM]: every image of the model is where the truth has it, or on the turned
# court (x, y become -x, -y, which is a half turn about z before the rotation). With NUM there are so
# many images, and all of them are turned or none is.
near() {
    awk -v max_deg="$2" -v max_m="$3" -v wanted="${4:-0}" '
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
        END {
            if (wanted && abs(sum) != num) { print "turned both ways"; bad = 1 }
            exit bad || num == 0 || (wanted && num != wanted)
        }' hall/gt/images.txt "$1/images.txt" || fail "poses of $1"
}
