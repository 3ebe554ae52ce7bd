# The manual matches the program.
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$(dirname "$0")/lib.sh"

"$planarsfm" --version | grep -q '^planarsfm [0-9]' || fail "--version"
"$planarsfm" help >overview.txt
grep -q reconstruct overview.txt || fail "overview"
for command in run extract match reconstruct report eval synth ablate convert align compare court \
    import-hloc import-matches doctor; do
    "$planarsfm" "$command" --help >help.txt
    grep -q "^usage: planarsfm $command" help.txt || fail "$command --help"
    "$planarsfm" help "$command" >again.txt
    diff help.txt again.txt || fail "help $command"
done
for command in $("$planarsfm" help --commands); do
    "$planarsfm" help --man "$command" >page.1
    grep -q "^.SH SYNOPSIS" page.1 || fail "manual page of $command"
    if command -v groff >/dev/null; then
        LC_ALL=C groff -man -ww -Tascii page.1 >page.txt 2>page.err
        [ ! -s page.err ] || fail "manual page of $command: $(head -3 page.err)"
    fi
done
"$planarsfm" help --man | grep -q '^.BR planarsfm.*run (1),' || fail "the manual page of all"
refuses 2 "no command" "$planarsfm" help --man nonsense
"$planarsfm" help --markdown >cli.md
diff cli.md "$root/docs/cli.md" ||
    fail "docs/cli.md is out of date: build/planarsfm help --markdown > docs/cli.md"

# A bar within a cell would end it: every row has the cells of its table's head.
sed 's/\\|//g' cli.md | awk -F'|' '/^\|/ { if (cells == 0) cells = NF; if (NF != cells) exit 1 } !/^\|/ { cells = 0 }' ||
    fail "cli.md: a row of a table has more cells than its head"
# A mode's own default is part of the row, wherever it is printed.
"$planarsfm" help reconstruct >help.txt
"$planarsfm" help --man reconstruct >page.1
for text in cli.md help.txt page.1; do
    tr -d '\\' <$text >plain.txt
    grep -q "default 0.1, paper mode 0.14" plain.txt || fail "$text: similarity.normal-bandwidth"
    grep -q "default 3, paper mode 0" plain.txt || fail "$text: lud.rounds"
done

"$planarsfm" doctor >doctor.txt
grep -q "^planarsfm: *$("$planarsfm" --version | cut -d' ' -f2)$" doctor.txt || fail "doctor: version"
for line in instructions threads memory BLAS CHOLMOD SQLite HDF5 oneDNN "3D in reports"; do
    grep -q "^$line: *[^ ]" doctor.txt || fail "doctor: $line"
done
if grep -q DYNAMIC_ARCH doctor.txt && grep -qw avx2 /proc/cpuinfo; then
    OPENBLAS_CORETYPE=Prescott "$planarsfm" doctor | grep -q "OPENBLAS_CORETYPE=" ||
        fail "doctor: kernels of an old processor"
    ! OPENBLAS_CORETYPE=Haswell "$planarsfm" doctor | grep -q "OPENBLAS_CORETYPE=" ||
        fail "doctor: kernels of this processor"
fi

refuses 2 "no command" "$planarsfm" nonsense
refuses 2 "no command" "$planarsfm" help nonsense
refuses 2 "usage\|first try" "$planarsfm"
refuses 2 "DATABASE is missing" "$planarsfm" reconstruct -o out
refuses 2 "too many" "$planarsfm" reconstruct a b -o out
refuses 2 "wants a value" "$planarsfm" reconstruct a -o
refuses 2 "given twice" "$planarsfm" reconstruct a -o b -o c
refuses 2 "unknown option" "$planarsfm" reconstruct a -o b --no-such 1

# A mistyped name gets the one that was meant, one that is near to nothing gets none.
refuses 2 "did you mean reconstruct?" "$planarsfm" recontsruct a
refuses 2 "did you mean --quiet?" "$planarsfm" reconstruct a -o b --quite
refuses 2 "did you mean --triangulate.max-error-px?" "$planarsfm" reconstruct a --traingulate.max-eror-px 3
! "$planarsfm" reconstruct a --no-such 1 2>&1 | grep -q "did you mean" || fail "a suggestion for --no-such"
refuses 2 "synth: --cameras: '0' is not allowed" "$planarsfm" synth arena --cameras 0 -o a
refuses 2 "threads wants a value" "$planarsfm" reconstruct a --threads
refuses 2 "not allowed" "$planarsfm" reconstruct a -o b --twoview.max-error-px -3
refuses 2 "not allowed" "$planarsfm" reconstruct a -o b --mode wild
refuses 2 "whole number" "$planarsfm" reconstruct a -o b --threads many
refuses 2 "no scene" "$planarsfm" synth castle -o out --matches-only
