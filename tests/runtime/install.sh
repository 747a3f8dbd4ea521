#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs ONNX Runtime for Node into FOLDER/node_modules by package-lock.json, unless present.
# usage: install.sh FOLDER
# Exit code 77 and one line with the reason if that is impossible.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=${1:?usage: install.sh FOLDER}

skip() {
    echo "skipped: $1"
    exit 77
}

command -v node >/dev/null || skip "node is not installed"
if cmp -s "$here/package-lock.json" "$folder/package-lock.json"; then
    exit 0
fi
if [ -e "$folder" ] && [ ! -e "$folder/package-lock.json" ]; then
    echo "install.sh: $folder is there and was not made by this script" >&2
    exit 2
fi
command -v npm >/dev/null || skip "npm is not installed"

# Made elsewhere and moved, so that a folder of that name is complete.
mkdir -p "$(dirname -- "$folder")" 2>/dev/null || skip "$folder cannot be made"
partial=$(mktemp -d "$folder.XXXXXX" 2>/dev/null) || skip "$folder cannot be made"
trap 'rm -rf "$partial"' EXIT
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$partial"
# The package contains the CPU library; its install script would download others from elsewhere.
(cd "$partial" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
    skip "npm ci failed: try it in $here to see why"
# Libraries for other systems are three quarters of it.
system=$(node -p 'process.platform + "/" + process.arch')
find "$partial/node_modules/onnxruntime-node/bin" -mindepth 3 -maxdepth 3 -type d \
    ! -path "*/$system" -exec rm -rf {} +
rm -rf "$folder" "$partial/npm.log"
mv "$partial" "$folder"
