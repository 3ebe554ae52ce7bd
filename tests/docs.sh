# What the pages say of the repository is so: links and anchors lead somewhere, files that they name
# are there, functions and constants too, those named beside a file in it, options in the manual. And
# sources of more than a screen open with their page: docs.sh [ROOT].
cd "${1:-$(dirname "$0")/..}" || exit 1
failures=0
complain() {
    echo "$1" >&2
    failures=$((failures + 1))
}
roots='(src|cli|include|bench|tests|scripts|cmake|docs|python|tools|web)'
pages=(README.md CONTRIBUTING.md docs/*.md docs/tutorials/*.md)

# anchors PAGE: those of its headings, as GitHub makes them.
anchors() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

for page in "${pages[@]}"; do
    folder=$(dirname "$page")
    for link in $(grep -oE '\]\([^):]+\)' "$page" | tr -d '])('); do
        file=${link%%#*}
        target=$([ -n "$file" ] && echo "$folder/$file" || echo "$page")
        [ -e "$target" ] || complain "$page: there is no $link"
        [[ $link != *#* ]] || anchors "$target" | grep -qx -- "${link#*#}" ||
            complain "$page: $target has no heading for #${link#*#}"
    done
    for file in $(grep -oE '`'"$roots"'/[A-Za-z0-9_/.-]+`' "$page" | tr -d '`'); do
        [ -e "$file" ] || complain "$page: there is no file $file"
    done
    # `src/images/image/image_<name>.c`: one such file at least, so that its neighbours show how.
    for file in $(grep -oE '`'"$roots"'/[A-Za-z0-9_/.<>-]*<[A-Za-z0-9_/.<>-]*`' "$page" | tr -d '`'); do
        compgen -G "$(sed 's/<[a-z]*>/*/g' <<<"$file")" >/dev/null || complain "$page: there is no file like $file"
    done
    while read -r name file; do
        grep -qw -- "$name" "$file" 2>/dev/null || complain "$page: $file has no $name"
    done < <(grep -oE '`[a-z_0-9]+` in `src/[a-z_0-9/]+\.[ch]`' "$page" | sed 's/`//g; s/ in / /')
    for option in $(grep -oE -- '--[a-z0-9-]+\.[a-z][a-z0-9-]+' "$page" | sort -u); do
        grep -qF -- "\`$option\`" docs/cli.md || complain "$page: docs/cli.md has no $option"
    done
done

# Names of ours, alone in backquotes.
known=$(grep -rhoE '\b(psfm|PSFM)_[A-Za-z0-9_]+' CMakeLists.txt cmake src include tools cli bench tests python | sort -u)
for name in $(grep -ohE '`(psfm|PSFM)_[A-Za-z0-9_]+`' "${pages[@]}" | tr -d '`' | sort -u); do
    grep -qx -- "$name" <<<"$known" || complain "the pages name $name, which is nowhere"
done

# LAYER/FILE in comments and includes.
for file in $(grep -rhoE '\b[a-z]+/[a-z_0-9]+\.[ch]\b' --include='*.[ch]' src cli | sort -u); do
    [ ! -d "src/${file%%/*}" ] || [ -e "src/$file" ] || complain "a comment names $file, which is not there"
done

for source in src/*/*.c src/*/*/*.c tools/*/*.c cli/*.c; do
    [ "$(wc -l <"$source")" -le 40 ] || [ "$(head -c 2 "$source")" = '/*' ] ||
        complain "$source does not open with its page"
done
[ "$failures" -eq 0 ]
