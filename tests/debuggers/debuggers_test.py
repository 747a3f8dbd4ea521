#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how debuggers show objects of stemma: gdb with its printers; for natvis, that the names exist.

usage: debuggers_test.py COMPILER FOLDER
"""
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = ROOT / "examples/packaging/debuggers"
EXPECTED = {
    "some": "7",
    "none": "none",
    "tree": "tree of 3 modules = {[0] = the root, [1] = engine: Engine, [2] = engine.pump}",
    "graph": "graph of 3 operators and 3 edges = {[0] = reads nothing, [1] = reads 0, [2] = reads 0, 1}",
    "node": "node 64 of encoder.layer.0.attention.self",
    "module": "module 1: embeddings",
    "value": "value 3",
    "parameter": "parameter 2",
    "nothing": "no node",
    "found": r"tags of 3 operators = {\[0\] = module 2 \(\w+, 0\.\d\d\), \[1\] = module 2 \(producer, 0\.\d\d\), .*}",
}


def check_natvis():
    """The natvis file, which no debugger on this system reads, names existing classes and members."""
    text = "".join(path.read_text() for path in (ROOT / "include").rglob("*.hpp"))
    space = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"
    types = xml.etree.ElementTree.parse(PLACE / "stemma.natvis").getroot().findall(f"{space}Type")
    if not types:
        sys.exit("natvis names no type")
    for one in types:
        name = one.get("Name").rpartition("::")[2]
        if not re.search(rf"^(class|struct) {name}\b", text, re.M):
            sys.exit(f"natvis: there is no {name}")
        for item in one.iter(f"{space}Item"):
            for member in re.findall(r"[a-z]\w*", item.text.partition(",")[0]):
                if not re.search(rf"\b{member}\b( = [^;]*)?;", text):
                    sys.exit(f"natvis: {name} has no {member}")


def main():
    compiler, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    check_natvis()
    gdb = shutil.which("gdb")
    if not gdb or subprocess.run([gdb, "-batch", "-nx", "-ex", "python print(1)"], capture_output=True).returncode:
        print("skipped: no gdb with Python (Debian: gdb)")
        sys.exit(77)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "shown"
    more = ["-fno-limit-debug-info"] if "clang" in pathlib.Path(compiler).name else []
    subprocess.run([compiler, "-std=c++20", "-O0", "-g", *more, "-I", ROOT / "include", HERE / "shown.cpp", "-o", program],
                   check=True)
    words = [gdb, "-batch", "-nx", "-ex", f"source {PLACE / 'stemma_gdb.py'}", "-ex", "set width 0",
             "-ex", "set startup-with-shell off", "-ex", "break stop_here", "-ex", "run"]
    for name in EXPECTED:
        words += ["-ex", f"output {name}", "-ex", r"echo \n"]
    done = subprocess.run([*words, "--args", program, ROOT / "examples/data/bert_micro.onnx"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if re.search(r"ptrace|not permitted", done.stdout + done.stderr) and "Breakpoint 1, " not in done.stdout:
        print("skipped: gdb may not run a program here")
        sys.exit(77)
    for name, expected in EXPECTED.items():
        pattern = expected if name == "found" else re.escape(expected)
        if not any(re.fullmatch(rf"(\(.*&\) @0x[0-9a-f]+: )?{pattern}", line) for line in lines):
            print(done.stdout, done.stderr)
            sys.exit(f"{name} is not shown as {expected}")
    print(f"{len(EXPECTED)} objects shown")


if __name__ == "__main__":
    main()
