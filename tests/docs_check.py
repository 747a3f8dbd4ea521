#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what documents show with what happens. With --update, writes into them what happens.

usage: docs_check.py [--update] PROGRAM DOCUMENT...

- A ```console block is a command, `$ stemma ...`, and what it prints. The commands of one document
  run one after the other in a new folder, in which the project's folders can be seen. `$ cmp ...` is
  run as well, and `$ node ...` where ONNX Runtime is (STEMMA_RUNTIME); without it, status 77.
- A ```cpp block behind the name of a program in examples/ is that program, from its first include
  on; a ```text block after it is what it prints.
"""
import atexit
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r"`(examples/[\w/]+)\.cpp`")


not_run = []


def scratch_folder(parent):
    folder = pathlib.Path(tempfile.mkdtemp(dir=parent))
    for name in ("docs", "examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def has_runtime():
    return shutil.which("node") and os.path.isdir(os.environ.get("STEMMA_RUNTIME", ""))


def printed_by(program, line, folder):
    words = shlex.split(line.removeprefix("$ "))
    programs = {"stemma": program, "cmp": "cmp"}
    if words[0] == "node":
        if not has_runtime():
            not_run.append(line)
            return None
        programs["node"] = "node"
    if words[0] not in programs:
        return None
    done = subprocess.run([programs[words[0]], *words[1:]], cwd=folder, capture_output=True, text=True,
                          timeout=60)
    lines = (done.stdout + done.stderr).splitlines()
    return "".join(each.rstrip() + "\n" for each in lines)


def expected_blocks(program, text, folder):
    """Yields (start, end, what the block should hold)."""
    example = None
    for block in BLOCK.finditer(text):
        kind, content = block[1], block[2]
        if kind == "console":
            command, _, _ = content.partition("\n")
            printed = printed_by(program, command, folder)
            if printed is not None:
                yield block.start(2), block.end(2), f"{command}\n{printed}"
        elif kind == "cpp":
            named = EXAMPLE.findall(text[:block.start()].rsplit("```", 1)[-1])
            example = ROOT / named[-1] if named else None
            if example:
                source = example.with_suffix(".cpp").read_text()
                yield block.start(2), block.end(2), source[source.index("#include"):]
        elif kind == "text" and example:
            yield block.start(2), block.end(2), example.with_suffix(".expected").read_text()
            example = None


def main():
    words = sys.argv[1:]
    update = "--update" in words
    program, *documents = [word for word in words if word != "--update"]
    program = pathlib.Path(program).resolve()
    checked = wrong = 0
    parent = tempfile.mkdtemp(prefix="stemma-docs-")
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    for document in map(pathlib.Path, documents):
        text = document.read_text()
        result, behind = "", 0
        for start, end, content in expected_blocks(program, text, scratch_folder(parent)):
            checked += 1
            if text[start:end] != content:
                wrong += 1
                line = text.count("\n", 0, start) + 1
                print(f"{document.name}:{line}: shows\n{text[start:end]}but it is\n{content}"
                      "    remedy: run tests/docs_check.py with --update")
            result += text[behind:start] + content
            behind = end
        if update:
            document.write_text(result + text[behind:])
    print(f"{checked} blocks, {wrong} wrong")
    if checked == 0:
        print("nothing was compared: is a block not marked as console or cpp?")
    for line in not_run:
        print(f"skipped, as ONNX Runtime is not installed: {line}")
    sys.exit(1 if checked == 0 or (wrong and not update) else 77 if not_run else 0)


if __name__ == "__main__":
    main()
