#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets, two at a time, until one finds something or the time is over.
#
# usage: sh tests/fuzz/run.sh FOLDER SECONDS TARGET...
#
# FOLDER contains the programs. Inputs with new coverage stay in FOLDER/corpus/TARGET for the next
# run; findings are FOLDER/found/TARGET-*, reproduced by `fuzz_TARGET FILE`.
set -eu

folder=$1
seconds=$2
shift 2
cd "$folder"
./fuzz_seeds seeds
mkdir -p found

fuzz() {
    mkdir -p "corpus/$1"
    # Targets with more work per byte get fewer bytes: in a name list, each byte may be an operator.
    case $1 in
    scope_names) longest=128 ;;
    metadata) longest=128 ;;
    tagging) longest=512 ;;
    *) longest=1024 ;;
    esac
    # Recording allocation stacks takes a third of the time; `fuzz_TARGET FILE` does it. The schedule by entropy takes
    # as much where inputs have thousands of features.
    if ASAN_OPTIONS=detect_container_overflow=0:malloc_context_size=1 "./fuzz_$1" "corpus/$1" "seeds/$1" \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=$longest -entropic=0 \
        -artifact_prefix="found/$1-" -print_final_stats=1 >"$1.log" 2>&1; then
        echo "$1: $(sed -n 's/stat::number_of_executed_units: *//p' "$1.log") inputs," \
            "$(sed -n 's/stat::average_exec_per_sec: *//p' "$1.log") a second, nothing found"
    else
        echo "$1: found something; the end of $folder/$1.log is"
        tail -n 25 "$1.log"
        return 1
    fi
}

status=0
while [ $# -gt 0 ]; do
    fuzz "$1" &
    first=$!
    shift
    if [ $# -gt 0 ]; then
        fuzz "$1" || status=1
        shift
    fi
    wait $first || status=1
done
exit $status
