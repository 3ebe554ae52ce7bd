# Which photographs a run takes: another folder does not silently take the place of an earlier one, a
# list names some of a folder; and a database that was not matched.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/photos.sh"
mkdir -p one two
names=($(cd ring/images && ls))
cp -p ring/images/* one
for k in 0 1 2 3; do cp ring/images/"${names[$((7 - k))]}" two/"${names[$k]}"; done # other content
extract=("$planarsfm" extract --quiet -o out)

# Some more, some less, copied anew: the same folder. Others under the same names: not.
"${extract[@]}" one >/dev/null
refuses 2 "give --replace" "${extract[@]}" two
grep -q "8 photographs, of which only 0 are in two" refused.err || fail "$(cat refused.err)"
"${extract[@]}" one --json >same.json
[ "$(number same.json unchanged)" = 8 ] || fail "the refusal changed the database"
rm one/"${names[0]}" one/"${names[1]}"
cp two/"${names[0]}" one/new.jpg
"${extract[@]}" one --json >few.json
[ "$(number few.json removed) $(number few.json extracted)" = "2 1" ] || fail "$(cat few.json)"
mkdir -p moved
cp one/* moved
"${extract[@]}" moved >/dev/null || fail "copies of the same photographs are another folder"
refuses 2 "give --replace" "$planarsfm" run two -o out --quiet
"${extract[@]}" two --replace --json >replaced.json
[ "$(number replaced.json images)" = 4 ] || fail "--replace: $(cat replaced.json)"

# A database without matches.
refuses 1 "run 'planarsfm match out/database.db' first" "$planarsfm" reconstruct out/database.db -o out

refuses 1 "ring: a folder without a database.db" "$planarsfm" match ring
"$planarsfm" match out --quiet >/dev/null || fail "a folder does not stand for its database"
"$planarsfm" reconstruct out -o out --quiet >/dev/null || fail "a folder does not stand for its database"
refuses 1 "absent: cannot open folder" "$planarsfm" run absent -o none
[ ! -e none ] || fail "a folder was made for nothing"

# A list.
printf '# three of them\n%s\n\n%s/%s\n%s\r\n' "${names[2]}" "$PWD/ring/images" "${names[3]}" "./${names[4]}" >list.txt
"$planarsfm" run ring/images -o listed --images-list list.txt --cameras ring/gt --json --quiet >listed.json
[ "$(number listed.json images_total)" = 3 ] || fail "not the three of the list"
grep -q "${names[3]}" listed/model/0/images.txt || fail "an absolute path lost its name"
echo absent.jpg >>list.txt
refuses 1 "ring/images/absent.jpg: there is no such file; list.txt names it" \
    "$planarsfm" run ring/images -o listed --images-list list.txt
refuses 1 "no.txt" "$planarsfm" extract ring/images -o listed --images-list no.txt
echo /elsewhere/a.jpg >list.txt
refuses 1 "list.txt: line 1: /elsewhere/a.jpg is not below" \
    "$planarsfm" extract ring/images -o listed --images-list list.txt
cp "$0" ring/images/notes.jpg
printf '%s\nnotes.jpg\n' "${names[@]:2:3}" >list.txt
"$planarsfm" extract ring/images -o listed --images-list list.txt >/dev/null 2>said.err
grep -q "left out: ring/images/notes.jpg" said.err || fail "a listed file that is no photograph: $(cat said.err)"
