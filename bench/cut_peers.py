#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does it cost to cut all blocks of a model out: by `stemma cut`, and one after the other by
onnx.utils.extract_model of the installed onnx?

usage: cut_peers.py BUILD [--nodes N] [--weights BYTES] [--folder FOLDER] [--runs R] [--sample K]

`cut` of all blocks `encoder.layer.*`, and of all modules, in one thread and with as many as there
are processors, is compared with cp of the model. The peer is timed on K blocks and taken times their
number.
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
        cut = [stemma, "cut", str(model), "-d", str(out), "-q", "--no-sync"]
        commands = {"cp": ["cp", str(model), str(out)],
                    "cut, all blocks": [*cut, "--module", "encoder.layer.*"],
                    "cut, all modules": [*cut, "--all"]}
        for name in list(commands)[1:]:
            commands[f"{name}, --threads 0"] = [*commands[name], "--threads", "0"]
        figures = {name: [] for name in commands}
        parts = {}
        for turn in range(options.runs + 1):
            for name, command in commands.items():
                figure = run_once(command, out)
                if turn:
                    figures[name].append(figure)
                if name != "cp":
                    parts[name] = json.loads((out / "index.json").read_text())["cuts"]
                    size = sum((out / cut["file"]).stat().st_size for cut in parts[name])
                    if not turn:
                        print(f"{name}: {len(parts[name])} parts, {size} bytes besides weights.bin")
        print_figures(figures, "cp")
        blocks = parts["cut, all blocks"]
        if options.sample == 0:
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
        ours = statistics.median(figure[0] for figure in figures["cut, all blocks"])
        print(f"extract_model: {statistics.median(seconds):.2f} s a block, {peer:.1f} s for all "
              f"{len(blocks)}; cut: {ours:.3f} s; {peer / ours:.0f} times")


if __name__ == "__main__":
    main()
