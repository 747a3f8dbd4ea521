#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds everything and runs all tests, installing what is missing.
#
# usage: sh tests/run.sh [STAGE]...
#
# Stages run in order until one fails. Without arguments:
#   packages   install the packages for build and tests
#   build      build the preset `test`: the program, and the tests that need it
#   test       run its tests, and list what was skipped and why
#   unit       build the other tests with clang, and run them likewise
# By name only:
#   sanitize   build program, unit tests and fuzz targets with clang and sanitizers, and run these tests
#   fuzz       run each fuzz target for 30 seconds, built with the same sanitizers, and the program on changed models
set -eu
cd "$(dirname "$0")/.."

default_stages="packages build test unit"
all_stages="$default_stages sanitize fuzz"
cores=$(nproc)
# To add a stage: a function stage_NAME here, NAME in all_stages and in the list above.

stage_packages() {
    sh examples/packages.sh g++=c++ cmake=cmake ninja-build=ninja libboost-dev=boost/version.hpp \
        pkg-config=pkg-config libncurses-dev=curses.h tmux=tmux dpkg-dev=dpkg-shlibdeps zsh=zsh fish=fish \
        librange-v3-dev=range/v3/range_fwd.hpp nlohmann-json3-dev=nlohmann/json.hpp \
        libcli11-dev=CLI/CLI.hpp libfmt-dev=fmt/core.h catch2 libbenchmark-dev=benchmark/benchmark.h \
        libprotobuf-dev protobuf-compiler=protoc libonnx-dev clang-format-14=clang-format-14 \
        clang=clang++ libclang-rt-14-dev doxygen=doxygen gdb=gdb \
        python3=python3 python3-dev pybind11-dev python3-pytest python3-onnx python3-mypy \
        python3-jsonschema python3-networkx python3-torch libtorch-dev graphviz=dot \
        chromium=chromium ca-certificates nodejs=node npm=npm emscripten=em++ node-typescript=tsc \
        mkdocs-material=mkdocs
}

stage_build() {
    cmake --preset test --log-level=WARNING >/dev/null
    cmake --build --preset test --parallel "$cores"
}

run_tests() {
    results=build/$1/results.xml
    rm -f "$results"
    status=0
    ctest --preset "$1" --parallel "$cores" --output-junit "$PWD/$results" \
        --test-output-size-passed 100000 || status=$?
    if [ -f "$results" ]; then
        python3 tests/list_skipped.py "$results"
    fi
    return $status
}

stage_test() {
    run_tests test
}

stage_unit() {
    cmake --preset unit --log-level=WARNING >/dev/null
    cmake --build --preset unit --parallel "$cores"
    run_tests unit
}

stage_sanitize() {
    cmake --preset asan --log-level=WARNING >/dev/null
    cmake --build --preset asan --parallel "$cores"
    ctest --preset asan --parallel "$cores"
}

stage_fuzz() {
    cmake --preset asan --log-level=WARNING >/dev/null
    cmake --build --preset asan --parallel "$cores" --target fuzz
    cmake --build --preset asan --target fuzz_smoke
    cmake --build --preset asan --target fuzz_commands
}

for stage in ${*:-$default_stages}; do
    case " $all_stages " in
    *" $stage "*) ;;
    *)
        echo "run.sh: no stage is called '$stage'; there are: $all_stages" >&2
        exit 2
        ;;
    esac
done

timing=
for stage in ${*:-$default_stages}; do
    printf '\n== %s\n' "$stage"
    begin=$(date +%s)
    status=0
    # Not in a condition, where the shell would continue after a failed command.
    set +e
    (
        set -e
        "stage_$stage"
    )
    status=$?
    set -e
    timing="$timing
  $(printf '%-10s %5d s' "$stage" $(($(date +%s) - begin)))"
    if [ $status -ne 0 ]; then
        printf '\n== failed: %s%s\n' "$stage" "$timing"
        exit 1
    fi
done
printf '\n== all passed: %s%s\n' "${*:-$default_stages}" "$timing"
