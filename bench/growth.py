#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How does the cost of tagging grow with the number of nodes, beside what it must cost?

usage: growth.py BUILD [--sizes N,...] [--folder FOLDER] [--runs R]

For every size: `stemma tag --carrier metadata --threads 1 --no-sync`, bench/tag_floor, which writes the same
bytes and can do nothing else, and cp writing those bytes, all on one processor; and the same `stemma tag` with
as many threads as come, on all of them. Medians, in turns, each to a fresh path. The first two are compared by
processor time, by wall time, and by processor time less that of /bin/true, as to start a process takes longer
than to tag a small model; the last by wall time. Then the peak memory less the mapped file, in bytes a node, in
one thread and as it comes. Stops where the floor writes other bytes.
"""
import argparse
import filecmp
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

from peers import measure


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--sizes", default="1000,10000,100000,1000000")
    options.add_argument("--folder", default=None)
    options.add_argument("--runs", type=int, default=5)
    options = options.parse_args()
    build = options.build.resolve()
    print("| nodes | tag ms | floor ms | cp ms | tag / floor | by wall time | without the start | "
          "tag / cp | us a node | as it comes, wall ms | / floor | bytes a node above the file | "
          "as it comes |")
    print("|--:" * 13 + "|")
    ratios = []  # nodes, then as the columns
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            folder = pathlib.Path(folder)
            model, tagged, out = folder / "in.onnx", folder / "tagged.onnx", folder / "out.onnx"
            made = subprocess.run([build / "bench/generate_model", str(size), model], check=True,
                                  capture_output=True, text=True).stdout
            nodes = int(made.split()[0])
            tag = [str(build / "stemma"), "tag", str(model), "--carrier", "metadata", "--no-sync", "-q"]
            commands = {
                "tag": [*tag, "--threads", "1", "-o", str(out)],
                "floor": [str(build / "bench/tag_floor"), str(model), str(out)],
                "cp": ["cp", str(tagged), str(out)],
                "start": ["/bin/true"],
                "as it comes": [*tag, "-o", str(out)],
            }
            subprocess.run([*commands["tag"][:-1], tagged], check=True)
            subprocess.run(commands["floor"], check=True)
            if not filecmp.cmp(tagged, out, shallow=False):
                sys.exit(f"{nodes} nodes: the floor does not write what tag writes")
            figures = measure(commands, out, options.runs, {"tag", "floor", "cp", "start"})
            wall, work, peak = ({name: statistics.median(figure[i] for figure in measured)
                                 for name, measured in figures.items()} for i in range(3))
            above = {name: (peak[name] * 1024 - model.stat().st_size) / nodes for name in peak}
            ratios.append((nodes, work["tag"] / work["floor"], wall["tag"] / wall["floor"],
                           (work["tag"] - work["start"]) / (work["floor"] - work["start"]),
                           wall["as it comes"] / wall["floor"]))
            print(f"| {nodes} | {work['tag'] * 1e3:.1f} | {work['floor'] * 1e3:.1f} | "
                  f"{work['cp'] * 1e3:.1f} | {ratios[-1][1]:.2f} | {ratios[-1][2]:.2f} | "
                  f"{ratios[-1][3]:.2f} | "
                  f"{work['tag'] / work['cp']:.1f} | {work['tag'] / nodes * 1e6:.2f} | "
                  f"{wall['as it comes'] * 1e3:.1f} | {ratios[-1][4]:.2f} | {above['tag']:.0f} | "
                  f"{above['as it comes']:.0f} |", flush=True)
    print()
    for (few, *before), (many, *after) in zip(ratios, ratios[1:]):
        decades = math.log10(many / few)
        rises = [(b / a) ** (1 / decades) - 1 for a, b in zip(before, after)]
        print(f"{few} to {many} nodes: tag / floor changes by {rises[0]:+.0%} a decade, "
              f"by wall time {rises[1]:+.0%}, without the start {rises[2]:+.0%}, "
              f"as it comes {rises[3]:+.0%}")


if __name__ == "__main__":
    main()
