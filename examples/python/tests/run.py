#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the Python package with pytest.

usage: run.py FOLDER PROGRAM DATA [pytest arguments]

FOLDER holds the package, PROGRAM is what its answers are compared with, DATA is tests/data.
"""
import os
import pathlib
import sys

try:
    import numpy  # noqa: F401
    import onnx  # noqa: F401
    import pytest
except ImportError as missing:
    print(f"skipped: no {missing.name} here (Debian: python3-{missing.name})")
    sys.exit(77)

folder, program, data = (pathlib.Path(text).resolve() for text in sys.argv[1:4])
if not program.exists():
    print(f"skipped: {program} is not built")
    sys.exit(77)
sys.dont_write_bytecode = True
sys.path.insert(0, str(folder))
os.environ.update(PYTHONPATH=str(folder), STEMMA_PROGRAM=str(program), STEMMA_DATA=str(data))
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-rs", str(pathlib.Path(__file__).parent), *sys.argv[4:]]))
