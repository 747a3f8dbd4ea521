#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layout of all C++ files with clang-format 14; other versions disagree with it.

usage: format_check.py
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "examples", "tests", "bench")


def formatter():
    for name in ("clang-format-14", "clang-format"):
        program = shutil.which(name)
        if program and b"version 14." in subprocess.run([program, "--version"], capture_output=True).stdout:
            return program
    return None


def main():
    program = formatter()
    if program is None:
        print("skipped: clang-format 14 is not installed")
        sys.exit(77)
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".cpp", ".hpp") and "node_modules" not in path.parts)
    done = subprocess.run([program, *files], cwd=ROOT, capture_output=True)
    wrong = []
    if done.returncode == 0 and done.stdout != b"".join(path.read_bytes() for path in files):
        wrong = [path for path in files
                 if subprocess.run([program, path], cwd=ROOT, capture_output=True).stdout != path.read_bytes()]
    for path in wrong:
        print(f"{path.relative_to(ROOT)}: run {pathlib.Path(program).name} -i on it")
    if done.returncode != 0:
        print(done.stderr.decode())
    print(f"{len(files)} files, {len(wrong)} not formatted")
    sys.exit(1 if wrong or done.returncode != 0 else 0)


if __name__ == "__main__":
    main()
