#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the reference of the public headers with Doxygen, and fails when it warns.

usage: reference_check.py FOLDER

FOLDER/html/index.html is the reference. Every public name at namespace scope and every class must
have a comment. Members need one where their name does not say it all, which no program can tell;
nor do models of somebody else's interface: of Boost.Graph, and of evidence policies. Status 77 when
Doxygen is not installed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEMBER = re.compile(r"Member .* of (class|struct|union) .+ is not documented")
OTHERS_INTERFACE = re.compile(r"Member get\((boost::)?\w+_t\b.*is not documented|"
                              r"Compound stemma::\w+::claims is not documented")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    if shutil.which("doxygen") is None:
        print("skipped: doxygen is not installed")
        sys.exit(77)
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", ROOT / "docs/Doxyfile"], capture_output=True, text=True,
                          env={**os.environ, "STEMMA_ROOT": str(ROOT), "STEMMA_REFERENCE": str(folder)})
    warnings = [line.replace(f"{ROOT}/", "") for line in done.stderr.splitlines()
                if re.search(r": (error|warning):", line)
                and not MEMBER.search(line) and not OTHERS_INTERFACE.search(line)]
    for line in warnings:
        print(line)
    if not (folder / "html/index.html").exists():
        sys.exit(f"doxygen made nothing:\n{done.stderr[-2000:]}")
    print(f"{len(warnings)} warnings; {folder}/html/index.html")
    sys.exit(1 if warnings else 0)


if __name__ == "__main__":
    main()
