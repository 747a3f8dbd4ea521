#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs missing Debian or Ubuntu packages, unattended.
#
# usage: sh examples/packages.sh PACKAGE[=PROBE]...
#
# PROBE detects the package or a replacement: a header like fmt/core.h, or a command. Without it,
# the package itself must be installed.
set -eu

has_header() {
    command -v c++ >/dev/null && echo "#include <$1>" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1
}

has_package() {
    command -v dpkg-query >/dev/null &&
        dpkg-query --show --showformat '${Status}' "$1" 2>/dev/null | grep -q ' installed$'
}

missing=
for wanted in "$@"; do
    package=${wanted%%=*}
    case $wanted in
    *=*.h | *=*.hpp) has_header "${wanted#*=}" || missing="$missing $package" ;;
    *=*) command -v "${wanted#*=}" >/dev/null || missing="$missing $package" ;;
    *) has_package "$package" || missing="$missing $package" ;;
    esac
done

if [ -z "$missing" ]; then
    echo "all packages are there"
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "packages.sh: no apt-get here; install what these packages hold:$missing" >&2
    exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
fi
echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The words of $missing are packages.
if ! {
    $as_root apt-get update &&
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install --yes --no-install-recommends $missing
} >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "packages.sh: the packages could not be installed:$missing" >&2
    exit 1
fi
