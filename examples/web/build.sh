#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the page: static files for any web server.
# Needs emscripten (Debian: emscripten; status 77 without), CMake, and the headers of Boost, range-v3 and nlohmann-json.
#
# usage: sh examples/web/build.sh [FOLDER]      (build/web)
# OPTIMIZE=-O1: a faster build of a larger and slower page.
set -eu
command -v em++ >/dev/null || {
    echo "skipped: emscripten is not installed"
    exit 77
}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
out=${1:-build/web}
optimize=${OPTIMIZE:--O2}
headers=${STEMMA_HEADERS:-/usr/include}
mkdir -p "$out/include" "$out/objects" "$out/page"
# Links, as the C headers of /usr/include must not hide those of emscripten.
for one in boost range concepts meta std nlohmann; do
    [ ! -e "$headers/$one" ] || ln -sfn "$headers/$one" "$out/include/$one"
done
# For other versions of Node than Debian's, which emscripten's scripts are made for.
NODE_PATH=${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs
export NODE_PATH
cmake -DFOLDER="$root/examples/report/page" -DHEADER="$out/include/stemma_report/page.hpp" \
    -P "$root/examples/report/embed.cmake"
flags="-std=c++20 $optimize -fexceptions -DNDEBUG -Wall -Wextra -I$root/include -I$root/examples/report -isystem $out/include"
for one in sparse_file web_session web_main; do
    em++ $flags -c "$here/$one.cpp" -o "$out/objects/$one.o"
done
em++ "$optimize" -fexceptions "$out"/objects/*.o -o "$out/page/stemma.js" \
    -sMODULARIZE=1 -sEXPORT_NAME=createStemma -sENVIRONMENT=worker,node \
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=16MB -sTOTAL_STACK=4MB -sFILESYSTEM=1 \
    -sEXPORTED_FUNCTIONS=_stemma_call,_stemma_answer,_stemma_answer_size,_stemma_made,_stemma_made_size,_malloc,_free \
    -sEXPORTED_RUNTIME_METHODS=FS -lworkerfs.js -lnodefs.js
cp "$here"/page/* "$out/page/"
for one in layout.js elements.js lists.js tree.js search.js picture.js about.js colors.css base.css picture.css; do # shared with the report
    cp "$root/examples/report/page/$one" "$out/page/"
done
cp "$root/examples/data/bert_micro.onnx" "$root/examples/data/bert_micro.modules.json" "$out/page/"
printf 'page        %s/index.html\n' "$out/page"
printf 'compressed  %s bytes of WebAssembly\n' "$(gzip -9 -c "$out/page/stemma.wasm" | wc -c)"
