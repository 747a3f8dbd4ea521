#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the program unoptimized, which is much faster, and demonstrates it on an exported BERT. Runs unattended; takes
# a few minutes if packages are missing. Results stay in build/quickstart.
#
# usage: sh examples/quickstart.sh
set -eu
cd "$(dirname "$0")/.."

model=examples/data/bert_micro.onnx
capture=examples/data/bert_micro.modules.json
node=/encoder/layer.1/attention/self/Add
stemma=build/quick/stemma
out=build/quickstart

step() {
    printf '\n== %s\n' "$1"
}

step "Packages: compilers, CMake, Ninja, five header libraries and ncurses"
sh examples/packages.sh g++=c++ clang=clang++ cmake=cmake ninja-build=ninja libboost-dev=boost/version.hpp \
    librange-v3-dev=range/v3/range_fwd.hpp nlohmann-json3-dev=nlohmann/json.hpp \
    libcli11-dev=CLI/CLI.hpp libfmt-dev=fmt/core.h libncurses-dev=curses.h

step "Build: the program, not optimized, as $stemma"
cmake --preset quick --log-level=WARNING >/dev/null
cmake --build --preset quick --parallel "$(nproc)"

step "Tag: every node of $model gets its module"
mkdir -p "$out"
$stemma tag "$model" -m "$capture" -o "$out/tagged.onnx"

step "Tree: the modules of the tagged file, which needs no capture any more"
$stemma tree "$out/tagged.onnx" --depth 4

step "Explain: which module is $node of?"
$stemma explain "$out/tagged.onnx" "$node"

step "Strip: without the tags the file is what it was"
$stemma strip "$out/tagged.onnx" -o "$out/stripped.onnx"
cmp "$out/stripped.onnx" "$model"
echo "$out/stripped.onnx and $model are the same, byte for byte"

step "Run: in ONNX Runtime the tagged model computes the same bits"
run_both() {
    runtime=build/onnxruntime
    sh tests/runtime/install.sh "$runtime" || return 0
    clang++ -std=c++20 -I include tests/runtime/model_info.cpp -o "$out/model_info"
    node tests/runtime/ort.mjs compare "$model" "$out/tagged.onnx" --runtime "$runtime" \
        --model-info "$out/model_info"
}
run_both

cat <<END

== What to try next
  $stemma analyze $out/tagged.onnx
      how much is known of this model, and from what
  $stemma tree $out/tagged.onnx --keep LayerNorm,Embedding
      tags for classes of torch.nn, too
  $stemma tag YOUR_MODEL.onnx -o YOUR_TAGGED_MODEL.onnx
      your own model: no capture is needed
  cmake --preset release -DSTEMMA_WITH_ONNX=OFF && cmake --build --preset release --target stemma_program
      the optimized program, build/release/stemma, for large models
END
