# Nothing of the user's is lost, and no run disturbs another.
source "$(dirname "$0")/lib.sh"
"$planarsfm" synth arena -o scene --cameras 4 --matches-only --quiet >/dev/null
again() { "$planarsfm" reconstruct scene/database.db --quiet "$@"; }
again -o whole >/dev/null

# Files that no run wrote stay: folders, results without our summary, files put beside ours.
mkdir -p foreign/model && echo mine >foreign/model/thesis.txt
refuses 2 "foreign/model: was not written by a run of planarsfm" again -o foreign
mkdir -p model2/model/0 && cp whole/model/0/*.txt model2/model/0
refuses 2 "model2/model: was not written" again -o model2
mkdir other && echo '{"version": 3}' >other/summary.json
refuses 2 "other/summary.json: was not written" again -o other
cp -r whole noted && echo mine >noted/model/0/notes.txt
refuses 2 "noted/model/0/notes.txt: was not written" again -o noted
[ "$(cat foreign/model/thesis.txt noted/model/0/notes.txt)" = "mine
mine" ] || fail "a file of the user's is gone"
cp -r whole linked && mv linked/model elsewhere && ln -s ../elsewhere linked/model
refuses 2 "linked/model: was not written" again -o linked
[ -e elsewhere/0/images.txt ] || fail "a folder behind a link is gone"
mkdir -p hidden/.planarsfm/new && echo mine >hidden/.planarsfm/new/thesis.txt
refuses 2 "hidden/.planarsfm/new/thesis.txt: was not written" again -o hidden
[ "$(cat hidden/.planarsfm/new/thesis.txt)" = mine ] || fail "a hidden folder of the user's is gone"
# convert replaces what it was told to, and what it has written.
mkdir points && echo mine >points/sparse_pc.ply
refuses 2 "points/sparse_pc.ply: was not written by planarsfm" \
    "$planarsfm" convert scene/gt --to transforms.json -o points/transforms.json
[ "$(cat points/sparse_pc.ply)" = mine ] && [ ! -e points/transforms.json ] || fail "convert replaced a file of the user's"
mkdir theirs && cp whole/model/0/*.txt theirs
refuses 2 "theirs/cameras.txt: is there already" "$planarsfm" convert scene/gt --to colmap-bin -o theirs
[ -e theirs/images.txt ] && [ ! -e theirs/images.bin ] || fail "convert replaced a model of the user's"
for format in colmap-text colmap-bin opencv-yaml; do
    for _ in 1 2; do
        "$planarsfm" convert scene/gt --to $format -o "made.$format" --quiet >/dev/null || fail "convert refuses its own folder"
    done
done
for _ in 1 2; do
    "$planarsfm" convert scene/gt --to transforms.json -o made.json --quiet >/dev/null || fail "convert refuses its own points"
done
# An empty name stands for nothing.
for command in "reconstruct scene/database.db" "run scene" "extract scene" "align scene/gt --upright" "court scene --court tennis" \
    "convert scene/gt --to tum" "convert scene/gt --to colmap-bin" "synth arena" "import-points x" "import-hloc x y"; do
    refuses 2 "-o: its value is empty" "$planarsfm" $command -o ""
done
for command in report eval match run extract reconstruct convert compare; do
    refuses 2 "an argument is empty" "$planarsfm" $command ""
done
# A small stack gets a sentence, or more of it where that is allowed; a file at its limit a sentence.
# (Sanitizers need a larger stack to start.)
if (ulimit -s 64 && "$planarsfm" --version) >/dev/null 2>&1; then
    (ulimit -s 64 && refuses 1 "the stack of the calling thread has" again -o stacked)
    (ulimit -S -s 64 && again -o stacked >/dev/null) || fail "the limit of the stack is not raised"
fi
(ulimit -f 8 && refuses 1 "File too large" again -o limited)
# A pipe that nobody writes to is not waited for.
mkfifo nobody && mkdir pipes && mkfifo pipes/summary.json
refuses 1 "nobody: not a regular file" timeout 20 "$planarsfm" reconstruct nobody -o out
refuses 2 "pipes/summary.json: was not written" timeout 20 "$planarsfm" reconstruct scene/database.db -o pipes
# Temporary names are no one's.
mkdir -p tmp/model.tmp && echo mine | tee tmp/model.tmp/a tmp/summary.json.tmp a.json.tmp >/dev/null
again -o tmp >/dev/null
"$planarsfm" convert whole --to transforms.json -o a.json --quiet >/dev/null
[ "$(cat tmp/model.tmp/a tmp/summary.json.tmp a.json.tmp | sort -u)" = mine ] || fail "a temporary file of the user's is gone"
# What court writes is court's.
if "$planarsfm" synth arena -o hall --cameras 1 --render.width 160 --quiet >/dev/null 2>&1 && [ -d hall/images ]; then
    for name in court.json model overlay; do
        mkdir "mine_$name" && echo mine >"mine_$name/$name"
        refuses 2 "mine_$name/$name: is there already" "$planarsfm" court hall/images --court tennis -o "mine_$name"
        [ "$(cat "mine_$name/$name")" = mine ] || fail "$name of the user's is gone"
    done
    "$planarsfm" court hall/images --court tennis -o courts --quiet >courts.txt
    grep -q "^0 of 1 registered; poses in courts/court.json$" courts.txt || fail "$(cat courts.txt)"
    "$planarsfm" court hall/images --court tennis -o courts --quiet >/dev/null
    # A folder in which nothing was written is as it was.
    mkdir untouched
    refuses 1 "nowhere" "$planarsfm" court nowhere --court tennis -o untouched
    refuses 1 "nowhere" "$planarsfm" court nowhere --court tennis -o never
    [ -z "$(ls -A untouched)" ] && [ ! -e never ] || fail "a command that failed left something"
fi
# Over and over into one folder is what runs are for.
again -o whole >/dev/null
again -o whole --mode paper --no-report >/dev/null
[ "$(ls -A whole | tr '\n' ' ')" = "graph.json model summary.json " ] || fail "left: $(ls -A whole)"

# Links stay links, pipes pipes, devices devices.
mkdir there && echo old >there/a.json && ln -s there/a.json link.json
"$planarsfm" convert scene/gt --to transforms.json -o link.json --quiet >/dev/null
[ -L link.json ] && grep -q camera_model there/a.json || fail "a link was replaced"
ln -s nowhere/b.json loose.json
refuses 1 "loose.json: a symbolic link that leads nowhere" "$planarsfm" convert scene/gt --to transforms.json -o loose.json
mkfifo pipe.json
cat pipe.json >piped.json &
"$planarsfm" convert scene/gt --to transforms.json -o pipe.json --quiet >/dev/null
wait $!
[ -p pipe.json ] || fail "a pipe was replaced"
grep -v ply_file_path there/a.json >poses.json
grep -q camera_model piped.json && diff -B -b <(tr -d ' \n,' <poses.json) <(tr -d ' \n,' <piped.json) >/dev/null || fail "a pipe got something else"
"$planarsfm" convert scene/gt --to transforms.json -o /dev/stdout --quiet | cat >through.txt
grep -q camera_model through.txt || fail "nothing came through /dev/stdout"
! grep -q ply_file_path through.txt || fail "points are named that are nowhere"
if [ -w /dev/full ]; then
    refuses 1 "/dev/full: write failed" "$planarsfm" convert scene/gt --to transforms.json -o /dev/full
    [ -c /dev/full ] || fail "a device was replaced"
fi
ln -s scene/database.db db
"$planarsfm" synth arena -o scene2 --cameras 3 --matches-only --quiet >/dev/null
ln -sf ../scene/database.db scene2/database.db
"$planarsfm" synth arena -o scene2 --cameras 4 --matches-only --quiet >/dev/null
[ -L scene2/database.db ] || fail "the link of a database was replaced"

# Two runs into one folder: one does its work, the other says one sentence.
exec 9<whole
flock -n 9 || fail "the folder is locked after its runs"
refuses 1 "whole: another run is writing here" again -o whole
exec 9<&-
again -o whole >/dev/null
for k in 1 2 3; do (again -o both >/dev/null 2>both.$k && echo done >>both.done || true) & done
wait
[ -s both.done ] || fail "no run of three came through"
for k in 1 2 3; do
    [ ! -s both.$k ] || grep -q "another run is writing here" both.$k || fail "a run said: $(cat both.$k)"
done
again -o single >/dev/null
diff -r both/model single/model || fail "runs at the same time gave another model"

# A database's triggers are its own affair.
if command -v sqlite3 >/dev/null; then
    cp scene/database.db trigger.db
    sqlite3 trigger.db "CREATE TRIGGER t AFTER INSERT ON matches BEGIN DELETE FROM images; END"
    num=$(sqlite3 trigger.db "SELECT COUNT(*) FROM images")
    sqlite3 trigger.db "SELECT name FROM images ORDER BY image_id LIMIT 2" >two.txt
    { tr '\n' ' ' <two.txt; printf '\n0 0\n1 1\n2 2\n'; } >list.txt
    "$planarsfm" import-matches trigger.db list.txt --quiet >/dev/null
    [ "$(sqlite3 trigger.db "SELECT COUNT(*) FROM images")" = "$num" ] || fail "a trigger emptied the images"
    if "$planarsfm" synth arena -o two --cameras 2 --render.width 320 --quiet >/dev/null 2>&1 && [ -d two/images ]; then
        "$planarsfm" extract two/images -o traps --cameras two/gt --quiet >/dev/null
        for table in matches two_view_geometries planarsfm_matches planarsfm_features; do
            sqlite3 traps/database.db "CREATE TRIGGER i_$table AFTER INSERT ON $table BEGIN DELETE FROM images; END;
                CREATE TRIGGER d_$table AFTER DELETE ON $table BEGIN DELETE FROM keypoints; END"
        done
        "$planarsfm" match traps/database.db --quiet >/dev/null
        "$planarsfm" reconstruct traps/database.db -o traps --geometries --quiet >/dev/null 2>&1 || true
        [ "$(sqlite3 traps/database.db "SELECT (SELECT COUNT(*) FROM images) || (SELECT COUNT(*) FROM keypoints)
            || (SELECT COUNT(*) > 0 FROM matches)")" = 221 ] || fail "a trigger emptied a table"
    fi
fi

# A page that could not be written is not announced.
again -o pageless --no-report >announced.txt
! grep -q report.html announced.txt || fail "a page is announced that is not there"
again -o paged | grep -q "open paged/report.html" || fail "the page is not announced"

# synth and align replace what they wrote, and nothing else.
mkdir -p mine/gt moved
echo mine >mine/gt/cameras.txt
echo mine >moved/planes.json
refuses 2 "mine/gt: is there already" "$planarsfm" synth arena -o mine --cameras 4 --matches-only --quiet
[ "$(cat mine/gt/cameras.txt)" = mine ] || fail "synth replaced a file that it had not written"
"$planarsfm" synth arena -o made --cameras 4 --matches-only --quiet >/dev/null
"$planarsfm" synth arena -o made --cameras 5 --matches-only --quiet >/dev/null
"$planarsfm" reconstruct made/database.db -o posed --quiet >/dev/null
refuses 2 "moved/planes.json: is there already" "$planarsfm" align posed --upright -o moved --quiet
[ "$(cat moved/planes.json)" = mine ] && [ ! -e moved/images.txt ] || fail "align wrote beside a file of the user's"
for _ in 1 2; do
    "$planarsfm" align posed --upright -o aligned --quiet >/dev/null || fail "align refuses its own folder"
done
