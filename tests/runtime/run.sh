#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a script in Node; exit code 77, which CTest counts as skipped, without Node.
# usage: run.sh SCRIPT [ARGUMENT...]
command -v node >/dev/null || {
    echo "skipped: node is not installed"
    exit 77
}
exec node "$@"
