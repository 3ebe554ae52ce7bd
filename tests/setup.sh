# scripts/setup with package managers that only write down what they are asked for: setup.sh SCRATCH
set -u
setup=$(cd "$(dirname "$0")/.." && pwd)/scripts/setup
rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 1
failures=0
complain() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# command_of FILE TEXT: a program that does what the text says.
command_of() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
# system FOLDER: one that has only what setup itself uses.
system() {
    mkdir "$1"
    for tool in bash awk cat dirname id sh; do
        ln -s "$(command -v $tool)" "$1/$tool"
    done
    command_of "$1/npm" :
    command_of "$1/sudo" 'exec "$@"'
}
run_setup() { PATH=$1 "$1/bash" "$setup" "${@:2}" >"$1.out" 2>"$1.err"; }

system debian
command_of debian/dpkg-query 'case "$*" in *libpng-dev*) echo "install ok installed" ;; esac'
command_of debian/apt-get 'echo "$*" >>debian.log; case "$*" in *libdnnl-dev*) exit 100 ;; esac'
run_setup debian || complain "setup fails where one package of choice cannot be had"
grep -q 'install .*libopenblas-dev.* libcmocka-dev' debian.log || complain "apt is not asked for what is needed"
grep -q 'install .*libjs-three' debian.log || complain "apt is not asked for three.js"
grep -qE 'libpng-dev|clang-tidy' debian.log && complain "apt is asked for what is there or not wanted"
grep -q 'libdnnl-dev is not to be had' debian.err || complain "nothing is said of a package that cannot be had"
run_setup debian --checks
grep -q 'clang-tidy' debian.log || complain "--checks asks for no clang-tidy"

system fedora
command_of fedora/rpm 'exit 1'
command_of fedora/dnf 'echo "$*" >>fedora.log'
run_setup fedora || complain "setup fails with dnf"
grep -q 'install .*openblas-devel.* libcmocka-devel' fedora.log || complain "dnf is not asked for what is needed"
grep -qE -- '-dev( |$)| - ' fedora.log && complain "dnf is asked for packages of Debian"

system other
run_setup other && complain "setup succeeds where it knows no package manager"
[ "$(wc -l <other.err)" = 1 ] || complain "more or less than one sentence where no package manager is known"
grep -q 'suitesparse-devel' other.err || complain "no sentence says what is needed"
exit $((failures > 0))
