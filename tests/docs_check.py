#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares examples in documents with actual output. With --update, updates the documents.

usage: docs_check.py [--update] PROGRAM DOCUMENT...

- A ```console block is a command, `$ stemma ...`, and its output. The commands of a document run in
  sequence in a new folder, with links to the project's folders. `$ cmp ...` also runs, and so does
  `$ node ...` with ONNX Runtime (STEMMA_RUNTIME); without it, status 77.
- A ```cpp block after the name of a program in examples/ is that program, from its first include; a
  ```text block after it is its output. Any other ```cpp block occurs, apart from line breaks, in a
  source that tests compile.
- The lines of a ```sh block run in a folder with the files that documents mention, and must succeed,
  except those in NOT_HERE.
- ```python and ```cmake blocks belong to the tests in ELSEWHERE. No other kinds are allowed.
"""
import atexit
import functools
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
# Files that commands of documents read, and `program.cpp`.
STAND_INS = {"model.onnx": "examples/data/bert_micro.onnx",
             "optimized.onnx": "examples/data/bert_micro.onnx",
             "compiled.onnx": "examples/data/bert_micro.onnx",
             "modules.json": "examples/data/bert_micro.modules.json",
             "model.capture.json": "examples/data/bert_micro.modules.json"}
PROGRAM = "#include <stemma/core.hpp>\nint main() {}\n"
# Commands that do not run here, and why.
NOT_HERE = (
    (r"sh tests/run\.sh|sh examples/quickstart\.sh", "build everything, as CI does"),
    (r"c(make|test) |sh examples/packages\.sh", "build or install everything, as the tests consumers.* do"),
    (r"sh examples/web/|python3 -m http\.server", "needs emscripten, or serves until stopped"),
    (r"build/", "exists only after a separate build"),
    (r"(taskset -c \S+ )?python3 bench/|python3 tests/large\.py", "measures for minutes"),
    (r".*(int8\.onnx|\.npz|numerics\.json|ort\.log|examples/runners)",
     "needs runs of models; covered by the tests runtime.numerics and cli.numerics"),
    (r"stemma profile ", "needs the profile of a run; covered by the tests runtime.profiles and cli.cost"),
    (r"python3 capture\.py", "needs torch; run by the test examples.capture_python"),
    (r"python3 stemma_export\.py", "needs torch; run by the test examples.export"),
    (r"torch_capture ", "needs libtorch; run by the test examples.torch_capture"),
)
ELSEWHERE = {"python": "examples.capture_python", "cmake": "consumers.documents"}

not_run = []


def squeezed(text):
    return "".join(text.split())


@functools.cache
def compiled_sources():
    """Returns: all code of examples and tests, without blanks."""
    return "\n".join(squeezed(path.read_text()) for folder in ("examples", "tests")
                     for path in sorted((ROOT / folder).rglob("*.[ch]pp")))


def is_compiled(snippet):
    """Whether a source contains it, regardless of line breaks."""
    return squeezed(snippet) in compiled_sources()


def run_lines(program, block, folder):
    """Yields problems with the commands of a block."""
    for name, source in STAND_INS.items():
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / source)
    (folder / "program.cpp").write_text(PROGRAM)
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "bin/stemma").exists():
        (folder / "bin/stemma").symlink_to(program)
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    for line in block.replace("\\\n", " ").splitlines():
        if not line.strip() or any(re.match(pattern, line) for pattern, _ in NOT_HERE):
            continue
        done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True,
                              timeout=300, env={**os.environ, "PATH": path})
        if done.returncode != 0:
            yield f"'{line}' exits with {done.returncode}:\n{done.stdout}{done.stderr}"


def problems_of(program, text, folder):
    """Yields (position, problem) for the blocks without output to compare."""
    for block in BLOCK.finditer(text):
        kind, content = block[1], block[2]
        named = EXAMPLE.findall(text[:block.start()].rsplit("```", 1)[-1])
        if kind == "sh":
            for problem in run_lines(program, content, folder):
                yield block.start(), problem
        elif kind == "cpp" and not named and not is_compiled(content):
            yield block.start(), "occurs in no source of examples/ or tests/: add it to tests/documents.cpp"
        elif kind == "console":
            words = shlex.split(content.partition("\n")[0].removeprefix("$ "))
            if not words or words[0] not in ("stemma", "cmp", "node"):
                yield block.start(), "is not a command of stemma: make it a ```sh block"
        elif kind not in ("sh", "cpp", "text", *ELSEWHERE):
            yield block.start(), f"no test checks blocks of kind '{kind}'"


@functools.cache
def single_headers():
    """Returns: a folder with the joined headers."""
    folder = tempfile.mkdtemp(prefix="stemma-docs-headers-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([sys.executable, ROOT / "single_include/amalgamate.py", folder], check=True)
    return folder


def scratch_folder(parent):
    folder = pathlib.Path(tempfile.mkdtemp(dir=parent))
    for name in ("docs", "examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "single_include").symlink_to(single_headers())
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
    """Yields (start, end, expected content) of blocks."""
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
    checked = wrong = broken = 0
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
                print(f"{document.name}:{line}: shows\n{text[start:end]}instead of\n{content}"
                      "    remedy: run tests/docs_check.py with --update")
            result += text[behind:start] + content
            behind = end
        for start, problem in problems_of(program, text, scratch_folder(parent)):
            broken += 1
            print(f"{document.name}:{text.count(chr(10), 0, start) + 1}: {problem}")
        if update:
            document.write_text(result + text[behind:])
    print(f"{checked} blocks compared, {wrong} wrong; {broken} others are wrong")
    if checked == 0:
        print("nothing was compared: is a block not marked as console or cpp?")
    for line in not_run:
        print(f"skipped, as ONNX Runtime is not installed: {line}")
    sys.exit(1 if checked == 0 or broken or (wrong and not update) else 77 if not_run else 0)


if __name__ == "__main__":
    main()
