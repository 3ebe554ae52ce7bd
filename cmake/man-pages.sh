#!/bin/sh
# Writes planarsfm.1 and planarsfm-COMMAND.1: man-pages.sh PROGRAM FOLDER
set -eu
rm -rf "$2"
mkdir -p "$2"
for command in $("$1" help --commands); do
    "$1" help --man "$command" >"$2/planarsfm-$command.1"
done
"$1" help --man >"$2/planarsfm.1"
