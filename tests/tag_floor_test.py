#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The floor for `stemma tag --carrier metadata` must write the same bytes to be one.

usage: tag_floor_test.py PROGRAM GENERATE_MODEL TAG_FLOOR
"""
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, GENERATE, FLOOR = sys.argv[1:4]
TAG = (PROGRAM, "tag", "--carrier", "metadata", "-q", "--no-sync")  # the floor writes no marks
# Lists of tags of a value end between the first two; weights are copied differently.
MODELS = (("1000",), ("10000",), ("300", "--weights", "2000000"))


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        model, tagged, floor = (str(pathlib.Path(folder) / name) for name in ("in", "tagged", "floor"))
        for nodes, *options in MODELS:
            for words in ((GENERATE, nodes, model, *options),
                          (*TAG, model, "-o", tagged, "--threads", "1"),
                          (FLOOR, model, floor)):
                result = run(*words)
                if result.returncode:
                    sys.exit(f"{' '.join(words)}: exit status {result.returncode}\n{result.stderr}")
            expected, actual = (pathlib.Path(path).read_bytes() for path in (tagged, floor))
            if expected != actual:
                at = next((i for i, (a, b) in enumerate(zip(expected, actual)) if a != b),
                          min(len(expected), len(actual)))
                sys.exit(f"{nodes} nodes: byte {at} differs: {expected[at - 60:at + 60]} by the program, "
                         f"{actual[at - 60:at + 60]} by the floor")
        # It rejects unsupported models instead of writing something else.
        for shape in ("chain", "distinct_sets", "long_names"):
            run(GENERATE, "100", model, "--shape", shape)
            pathlib.Path(floor).unlink(missing_ok=True)
            refused = run(FLOOR, model, floor)
            run(*TAG, model, "-o", tagged)
            same = pathlib.Path(floor).exists() and \
                pathlib.Path(floor).read_bytes() == pathlib.Path(tagged).read_bytes()
            if refused.returncode != 3 and not same:
                sys.exit(f"{shape}: neither refused nor right: exit status {refused.returncode}")


if __name__ == "__main__":
    main()
