# A host with a decimal comma: every command that reads or writes numbers, with the locale set before
# it begins, gives the same bytes as without. What the command calls is what the library offers.
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null && command -v python3 >/dev/null ||
    { echo "sqlite3 or python3 is not installed"; exit 77; }
preload=$(dirname "$3")/libcomma.so
mkdir locales
localedef -i de_DE -f UTF-8 "$PWD/locales/de_DE.UTF-8" 2>/dev/null || [ -d locales/de_DE.UTF-8 ] ||
    { echo "no locale with a decimal comma can be built (Debian: package locales)"; exit 77; }
export LOCPATH=$PWD/locales
comma() { COMMA_LOCALE=de_DE.UTF-8 LD_PRELOAD=$preload "$@"; }
if COMMA_LOCALE=none LD_PRELOAD=$preload "$planarsfm" --version >/dev/null 2>&1; then
    echo "no library can be preloaded"
    exit 77
fi
comma "$planarsfm" --version >/dev/null || fail "the locale cannot be had"

# both NAME ARGUMENTS...: the command, run in two folders, writes the same files and the same JSON to
# standard output. Tables there are for people; the command itself never leaves the "C" locale.
num=0
both() {
    local name=$1
    shift
    mkdir -p c de
    (cd c && "$planarsfm" "$@" --threads 1 >"$name.stdout" 2>"$name.stderr") || fail "$*: $(cat "c/$name.stderr")"
    (cd de && comma "$planarsfm" "$@" --threads 1 >"$name.stdout" 2>"$name.stderr") ||
        fail "comma: $*: $(cat "de/$name.stderr")"
    num=$((num + 1))
    [[ " $* " = *" --json "* ]] || rm "c/$name.stdout" "de/$name.stdout"
    rm "c/$name.stderr" "de/$name.stderr"
    diff -r -x '*.db*' -x summary.json -x report.html c de >different.txt ||
        fail "$*: another locale, another result: $(head -c 600 different.txt)"
}
# The summary but times and memory.
summary() { sed '/"\(cpu_\)\?seconds"/,/}/d; /"peak_memory_mb"/,/}/d; /seconds/d' "$1"; }

both synth synth arena -o scene --cameras 8 --points 300 --off-plane 0.35 --noise-px 0.5 --matches-only --quiet
both matches reconstruct scene/database.db -o out --twoview.max-error-px 2.5 --scale 12.5 \
    --no-report --quiet
cmp <(summary c/out/summary.json) <(summary de/out/summary.json) || fail "another summary"
both paper reconstruct scene/database.db -o paper --mode paper --no-report --quiet
both distance reconstruct scene/database.db -o metric --distance cam_0001.jpg:600.5,400.25 \
    cam_0003.jpg:610.5,380.75 14.5 --no-report --quiet
both report report out --quiet
sed 's/"\(cpu_\)\?seconds":{[^}]*}//g; s/"peak_memory_mb":{[^}]*}//' c/out/report.html | cmp - \
    <(sed 's/"\(cpu_\)\?seconds":{[^}]*}//g; s/"peak_memory_mb":{[^}]*}//' de/out/report.html) || fail "another report"
both eval eval scene/gt out/model --json
both compare compare out scene/gt
both compare_json compare out scene/gt --json
both ablate ablate scene/database.db --gt scene/gt --seeds 1 --json --quiet

camera_centers c/out/model/0 >positions.txt
awk '{ printf "%s %.9f %.9f %.3f\n", $1, 47.5 + $3 / 111178, 8.25 + $2 / 75332, 400 + $4 }' positions.txt >earth.txt # metres there
python3 "$(dirname "$0")/control_points.py" c/out/model/0 8 >gcp.txt
for folder in c de; do cp positions.txt earth.txt gcp.txt $folder; done
both positions align out -o placed --positions positions.txt --json
both earth align out -o earth --geo-positions earth.txt
both control align out -o controlled --gcp gcp.txt
both upright align out -o upright --upright --distance cam_0001.jpg:600.5,400.25 cam_0003.jpg:610.5,380.75 14.5
"$planarsfm" convert earth --to none -o x 2>formats || true
formats=$(sed -n "s/.*no format 'none' (\(.*\))/\1/p" formats | tr -d ,)
[ -n "$formats" ] || fail "no formats"
for format in $formats; do
    both "to-$format" convert earth --to $format -o "model.$format"
done

# Points by hand, cameras as text, a drawing.
printf 'p a.jpg 10.5 20.25\nq a.jpg 30.5 40\np b.jpg 50.125 60\nq b.jpg 7.5 8\n' >named.txt
printf '{"name": "f", "unit": 0.1, "paint": "light", "lines": [[-14.5, 7.25, 14.5, 7.25], [-14.5, -7.5, 14.5, -7.5], [0, -7.5, 0, 7.25]]}\n' >floor.json
for folder in c de; do cp named.txt floor.json $folder; done
both points import-points named.txt -o named --camera "PINHOLE,100,80,50.5,50.25,50,40.125"
cmp <(sqlite3 c/named/database.db .dump) <(sqlite3 de/named/database.db .dump) || fail "another camera"
if "$planarsfm" synth field -o c/ring --cameras 4 --render.width 320 --quiet >/dev/null 2>&1 && [ -d c/ring/images ]; then
    ln -s ../c/ring de/ring # databases know photographs by inode and times, too
    both run run ring/images --cameras ring/gt -o photographs --no-report --quiet --sift.peak-threshold 0.0045
    cmp <(sqlite3 c/photographs/database.db .dump) <(sqlite3 de/photographs/database.db .dump) ||
        fail "another database"
    both court court ring/images -o court --drawing floor.json --cameras ring/gt --json --quiet
fi
echo "$num commands gave the same bytes in both locales"
