#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of cutting out all blocks of a model: with `stemma cut`, and one by one with extract_model of the
installed onnx.

usage: cut_peers.py BUILD [--nodes N] [--weights BYTES] [--folder FOLDER] [--runs R] [--sample K]

`cut` of all blocks `encoder.layer.*`, and of all modules, with one thread per processor and with one, is compared
with cp of the model. The peer is timed on K blocks and extrapolated to all.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

from peers import measure, print_figures, run_once


def look_at(out, sample):
    """Number and bytes of the parts in a folder, and inputs and outputs of a sample of them."""
    cuts = json.loads((out / "index.json").read_text())["cuts"]
    size = sum((out / cut["file"]).stat().st_size for cut in cuts)
    step = max(1, len(cuts) // max(1, sample))
    return len(cuts), size, [(cut["inputs"], cut["outputs"]) for cut in cuts[::step][:sample]]


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
            commands[f"{name}, one thread"] = [*commands[name], "--threads", "1"]
        parts, counts = {}, {}
        for name, command in list(commands.items())[1:]:
            run_once(command, out)
            # In a separate process: the memory of this one would count as that of the commands it starts.
            with ProcessPoolExecutor(1) as pool:
                counts[name], size, parts[name] = pool.submit(look_at, out, options.sample).result()
            print(f"{name}: {counts[name]} parts, {size} bytes without weights.bin")
        figures = measure(commands, out, options.runs)
        print_figures(figures, "cp", "cut, all blocks")
        if options.sample == 0:
            return
        import onnx.utils
        seconds = []
        for inputs, outputs in parts["cut, all blocks"]:
            begin = time.perf_counter()
            onnx.utils.extract_model(str(model), str(folder / "peer.onnx"), inputs, outputs)
            seconds.append(time.perf_counter() - begin)
        count = counts["cut, all blocks"]
        peer = statistics.median(seconds) * count
        ours = statistics.median(figure[0] for figure in figures["cut, all blocks"])
        print(f"extract_model: {statistics.median(seconds):.2f} s per block, {peer:.1f} s for all "
              f"{count}; cut: {ours:.3f} s; ratio {peer / ours:.0f}")


if __name__ == "__main__":
    main()
