#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the Python package stemma, and installs it for python3, or into FOLDER.
#
# usage: sh examples/python/build.sh [FOLDER]
#
# PYTHON sets the interpreter (python3), BUILD the build folder (build/python).
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
python=$(command -v "${PYTHON:-python3}") || {
    echo "build.sh: there is no ${PYTHON:-python3}" >&2
    exit 2
}
folder=${1:-$("$python" -c 'import site, sys, sysconfig
inside = sys.prefix != sys.base_prefix
print(sysconfig.get_path("purelib") if inside else site.getusersitepackages())')}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
build=${BUILD:-$here/build/python}

cmake -S "$here" -B "$build" --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DSTEMMA_BUILD_PYTHON=ON \
    -DSTEMMA_BUILD_PROGRAM=OFF -DSTEMMA_BUILD_EXAMPLES=OFF -DSTEMMA_WITH_ONNX=OFF -DSTEMMA_INSTALL=OFF \
    -DPython3_EXECUTABLE="$python" -DSTEMMA_PYTHON_FOLDER="$folder" >/dev/null
cmake --build "$build" --target stemma_python
PYTHONPATH=$folder "$python" -c 'import stemma; print("stemma", stemma.__version__, "in", stemma.__path__[0])'
