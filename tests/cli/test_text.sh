# Foreign names in files and on the terminal; standard output that cannot be written.
source "$(dirname "$0")/lib.sh"
"$planarsfm" synth arena -o scene --cameras 4 --matches-only --quiet >/dev/null
"$planarsfm" convert scene/gt --to colmap-bin -o binary --quiet >/dev/null
# Names of the same length with a line end, an escape sequence, and a byte that is not UTF-8.
LC_ALL=C sed -z -e 's/cam_0001\.jpg/cam\n001<jpg/' -e 's/cam_0002\.jpg/cam\x1b[2Jajpg/' \
    -e 's/cam_0003\.jpg/cam\xff0003\.jp/' binary/images.bin >images.bin
LC_ALL=C grep -q $'\xff' images.bin || fail "no name was changed"
mv images.bin binary/images.bin

"$planarsfm" convert binary --to tum -o poses.tum --quiet >/dev/null
[ "$(grep -vc '^#' poses.tum)" = 4 ] && [ "$(wc -l <poses.tum)" = 9 ] || fail "a name broke a line of TUM: $(cat poses.tum)"
"$planarsfm" convert binary --to transforms.json -o transforms.json --quiet >/dev/null
echo '{"latitude_deg": 50, "longitude_deg": 14, "altitude_m": 234}' >binary/geo_reference.json
"$planarsfm" convert binary --to kml -o places.kml --quiet >/dev/null
"$planarsfm" convert binary --to opencv-yaml -o opencv --quiet >/dev/null
"$planarsfm" compare binary binary >compared.txt
"$planarsfm" compare binary binary --json >compared.json
for file in transforms.json places.kml compared.txt compared.json poses.tum opencv/*.yml; do
    iconv -f UTF-8 -t UTF-8 "$file" >/dev/null || fail "$file is not UTF-8"
    ! LC_ALL=C grep -q $'\x1b' "$file" || fail "$file has an escape sequence"
done
grep -q 'cam\\x0A' compared.txt || fail "a name broke a line on the terminal"
! command -v python3 >/dev/null || python3 - <<'PY'
import json, xml.dom.minidom
json.load(open("transforms.json")), json.load(open("compared.json"))
xml.dom.minidom.parse("places.kml")
PY
# A long name is whole.
long=$(printf 'x%.0s' {1..5000})
cp -r scene/gt long && sed -i "s/cam_0001.jpg/$long/" long/images.txt
"$planarsfm" convert long --to transforms.json -o long.json --quiet >/dev/null
grep -q "$long" long.json || fail "a long name was cut"

# Standard output counts.
if [ -w /dev/full ]; then
    got=0
    "$planarsfm" eval scene/gt scene/gt --json >/dev/full 2>full.err || got=$?
    [ "$got" = 1 ] && grep -q "standard output: write failed" full.err || fail "a full disk: exit code $got"
    for arguments in "--version" "help" "help run" "help --markdown"; do
        ! "$planarsfm" $arguments >/dev/full 2>/dev/null || fail "$arguments: a full disk is no failure"
    done
fi
# A reader that goes away: no words, also where SIGPIPE is ignored.
python3 -c 'import os, subprocess, sys
read, write = os.pipe()
os.close(read)
print("code", subprocess.run(sys.argv[1:], stdout=write, restore_signals=False).returncode, file=sys.stderr)' \
    "$planarsfm" help --markdown 2>pipe.err
[ "$(cat pipe.err)" = "code 1" ] || fail "a broken pipe said: $(cat pipe.err)"
