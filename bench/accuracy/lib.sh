# What the accuracy benches share: running planarsfm and COLMAP on one database, and scoring both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
planarsfm=${PLANARSFM:-build/planarsfm}
export QT_QPA_PLATFORM=offscreen
[ -x "$planarsfm" ] || {
    echo "$planarsfm is missing: run scripts/build" >&2
    exit 1
}

# timed FILE COMMAND...: runs it and adds "clock cpu" seconds to FILE; never fails. CPU seconds
# (user and system, all threads) are what to compare on a busy machine.
timed() {
    local file=$1 TIMEFORMAT='%R %U %S'
    shift
    { time "$@" >>"$log" 2>&1 || true; } 2>"$file.time"
    awk '{ print $1, $2 + $3 }' "$file.time" >>"$file"
}
total() { awk '{ clock += $1; cpu += $2 } END { printf "%.3f %.3f", clock, cpu }' "$1"; }

# numbers FILE: registered images, rotation AUC@1/3/5 and max(R, t) AUC@1/3/5 of an evaluation.
numbers() {
    local auc='\{"0.5":[^,]*,"1":([^,]*),"3":([^,]*),"5":([^,]*),[^}]*\}'
    tr -d ' \t\n' <"$1" |
        sed -E "s/.*\"num_registered\":([0-9]+).*\"auc_rotation\":$auc.*\"auc_max\":$auc.*/\1 \2 \3 \4 \5 \6 \7/"
}

# score GT MODELS "CLOCK CPU": one line of numbers with the seconds at its end.
score() {
    local json
    if json=$("$planarsfm" eval "$1" "$2" --json 2>/dev/null); then
        echo "$(numbers <(echo "$json")) $3"
    else
        echo "0 0 0 0 0 0 0 $3" # no model
    fi
}

# little N: hexadecimal bytes of a double, little-endian.
little() { perl -e 'print unpack("H*", pack("d<", $ARGV[0]))' "$1"; }

# replace_cameras DATABASE PRIOR: cameras become SIMPLE_RADIAL with the focal lengths on stdin, a line
# "id|width|height|focal" each; PRIOR 1 says that they are known.
replace_cameras() {
    while IFS='|' read -r id w h f; do
        echo "UPDATE cameras SET model = 2, prior_focal_length = $2, params = x'$(little "$f")$(
            little "$(awk -v x="$w" 'BEGIN { print x / 2 }')")$(
            little "$(awk -v x="$h" 'BEGIN { print x / 2 }')")$(little 0)' WHERE camera_id = $id;"
    done >"$1.sql"
    sqlite3 "$1" <"$1.sql"
    rm "$1.sql"
}

# forget DATABASE: every camera is at the guess, without a prior.
forget() {
    sqlite3 "$1" "SELECT camera_id, width, height, 1.2 * max(width, height) FROM cameras" |
        replace_cameras "$1" 0
    sqlite3 "$1" "DROP TABLE IF EXISTS planarsfm_cameras;"
}

# tell DATABASE: every camera has its focal length, rounded to whole millimetres of a 35 mm film, as if
# from EXIF data.
tell() {
    sqlite3 "$1" "SELECT camera_id, width, height, hex(params) FROM cameras" |
        perl -F'\|' -lane '$px = sqrt($F[1] ** 2 + $F[2] ** 2) / sqrt(36 ** 2 + 24 ** 2);
            $mm = int(unpack("d<", pack("H16", $F[3])) / $px + 0.5);
            print join "|", @F[0 .. 2], $mm * $px' | replace_cameras "$1" 1
    sqlite3 "$1" "CREATE TABLE IF NOT EXISTS planarsfm_cameras
        (source TEXT PRIMARY KEY NOT NULL, camera_id INTEGER NOT NULL);
        DELETE FROM planarsfm_cameras;
        INSERT INTO planarsfm_cameras SELECT 'image:' || camera_id, camera_id FROM cameras;"
}

# run_ours DATABASE GT OUT [flags]: reconstructs a copy of the database and scores it.
run_ours() {
    local database=$1 gt=$2 out=$3 log=$3/log
    shift 3
    rm -rf "$out" && mkdir -p "$out"
    cp "$database" "$out/database.db"
    timed "$out/seconds" "$planarsfm" reconstruct "$out/database.db" -o "$out" "$@" --quiet
    score "$gt" "$out/model" "$(total "$out/seconds")"
}

# run_colmap DATABASE GT OUT: the same with COLMAP's verification and incremental mapper, intrinsics
# fixed.
run_colmap() {
    local database=$1 gt=$2 out=$3 log=$3/log
    rm -rf "$out" && mkdir -p "$out/model"
    cp "$database" "$out/database.db"
    sqlite3 "$database" "SELECT a.name || ' ' || b.name FROM matches m
        JOIN images a ON a.image_id = (m.pair_id - m.pair_id % 2147483647) / 2147483647
        JOIN images b ON b.image_id = m.pair_id % 2147483647" >"$out/pairs.txt"
    timed "$out/seconds" colmap matches_importer --database_path "$out/database.db" \
        --match_list_path "$out/pairs.txt" --match_type pairs --SiftMatching.use_gpu 0
    timed "$out/seconds" colmap mapper --database_path "$out/database.db" --image_path "$out" \
        --output_path "$out/model" \
        --Mapper.ba_refine_focal_length 0 --Mapper.ba_refine_principal_point 0 \
        --Mapper.ba_refine_extra_params 0 --Mapper.extract_colors 0
    score "$gt" "$out/model" "$(total "$out/seconds")"
}

# colmap_match OUT PAIRS NAMES: matches and verifies; a ring needs the list of its pairs.
colmap_match() {
    if [ "$2" = exhaustive ]; then
        timed "$1/times" colmap exhaustive_matcher --database_path "$1/database.db" \
            --SiftMatching.use_gpu 0 --SiftMatching.num_threads "$threads"
        return
    fi
    awk -v k="${2#ring:}" '{ name[NR] = $0 } END { for (i = 1; i <= NR; ++i)
        for (j = 1; j <= k; ++j) print name[i], name[(i + j - 1) % NR + 1] }' "$3" >"$1/pairs.txt"
    timed "$1/times" colmap matches_importer --database_path "$1/database.db" \
        --match_list_path "$1/pairs.txt" --match_type pairs --SiftMatching.use_gpu 0 \
        --SiftMatching.num_threads "$threads"
}

colmap_map() { # OUT IMAGES
    mkdir -p "$1/model"
    timed "$1/times" colmap mapper --database_path "$1/database.db" --image_path "$2" \
        --output_path "$1/model" --Mapper.num_threads "$threads" --Mapper.extract_colors 0 \
        --Mapper.ba_refine_focal_length 0 --Mapper.ba_refine_principal_point 0 \
        --Mapper.ba_refine_extra_params 0
}

# theirs OUT IMAGES PAIRS CAMERAS: photographs to poses by COLMAP on $threads threads, with the
# cameras of our database CAMERAS: OUT/model and OUT/times, a line each for extraction, matching and
# mapping. What an earlier call left is taken.
theirs() {
    local log=$1/log
    [ ! -s "$1/done" ] || return 0
    rm -rf "$1" && mkdir -p "$1"
    timed "$1/times" colmap feature_extractor --database_path "$1/database.db" \
        --image_path "$2" --ImageReader.single_camera_per_image 1 --SiftExtraction.use_gpu 0 \
        --SiftExtraction.num_threads "$threads"
    sqlite3 "$1/database.db" "ATTACH '$4' AS ours; DELETE FROM cameras;
        INSERT INTO cameras SELECT camera_id, model, width, height, params, 1 FROM ours.cameras;
        UPDATE images SET camera_id =
            (SELECT camera_id FROM ours.images WHERE ours.images.name = main.images.name);"
    sqlite3 "$4" "SELECT name FROM images ORDER BY CAST(name AS BLOB)" >"$1/names"
    colmap_match "$1" "$3" "$1/names"
    colmap_map "$1" "$2"
    echo yes >"$1/done"
}

header() {
    printf '%-18s %-9s %6s   %20s   %20s   %8s %8s\n' scene '' images 'rotation AUC@1/3/5' \
        'max(R,t) AUC@1/3/5' seconds 'CPU s'
}

# mean NAME WHO: averages the lines of standard input into one row.
mean() {
    awk -v name="$1" -v who="$2" '{ for (k = 1; k <= NF; ++k) s[k] += $k; ++n }
        END { printf "%-18s %-9s %6.1f   %6.2f %6.2f %6.2f   %6.2f %6.2f %6.2f   %8.2f %8.2f\n", name,
              who, s[1]/n, s[2]/n, s[3]/n, s[4]/n, s[5]/n, s[6]/n, s[7]/n, s[8]/n, s[9]/n }'
}
