#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does it cost to cut all blocks of a model out: by `stemma cut --all`, and one after the other
by onnx.utils.extract_model of the installed onnx?

usage: cut_peers.py BUILD [--nodes N] [--weights BYTES] [--folder FOLDER] [--runs R] [--sample K]

`cut --all` is compared with cp of the model. It writes every module with nodes; the peer is timed on
K blocks `encoder.layer.*` and taken times their number.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from peers import print_figures, run_once


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--nodes", default="10000")
    options.add_argument("--weights", default="0")
    options.add_argument("--folder", default=None)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--sample", type=int, default=3)
    options = options.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        model, out = folder / "in.onnx", folder / "out"
        subprocess.run([build / "bench/generate_model", options.nodes, model, "--weights",
                        options.weights], check=True)
        stemma = str(build / "stemma")
        figures = {"cp": [], "cut": []}
        cut = [stemma, "cut", str(model), "--all", "-d", str(out), "-q"]
        for turn in range(options.runs + 1):
            for name, command in (("cp", ["cp", str(model), str(out)]), ("cut", cut)):
                figure = run_allowing(command, out)
                if turn:
                    figures[name].append(figure)
        print_figures(figures, "cp")
        cuts = json.loads((out / "index.json").read_text())["cuts"]
        written = [c for c in cuts if c.get("file")]
        size = sum((out / c["file"]).stat().st_size for c in written)
        blocks = [c for c in written
                  if c["module"].startswith("encoder.layer.") and c["module"].count(".") == 2]
        print(f"{len(written)} of {len(cuts)} modules cut, {size} bytes; {len(blocks)} blocks")
        if options.sample == 0 or not blocks:
            return
        import onnx.utils
        step = max(1, len(blocks) // options.sample)
        sample = blocks[::step][:options.sample]
        names = lambda entries: [e if isinstance(e, str) else e["name"] for e in entries]
        seconds = []
        for block in sample:
            begin = time.perf_counter()
            onnx.utils.extract_model(str(model), str(folder / "peer.onnx"), names(block["inputs"]),
                                     names(block["outputs"]))
            seconds.append(time.perf_counter() - begin)
        peer = statistics.median(seconds) * len(blocks)
        ours = statistics.median(figure[0] for figure in figures["cut"])
        print(f"extract_model: {statistics.median(seconds):.2f} s a block, {peer:.1f} s for all "
              f"{len(blocks)}; cut --all, all modules: {ours:.3f} s; {peer / ours:.0f} times")


def run_allowing(command, out):
    """As run_once, for a command that says by its status that some were refused."""
    return run_once(["sh", "-c", '"$@" || test $? = 1', "sh", *command], out)


if __name__ == "__main__":
    main()
