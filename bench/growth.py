#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How does the cost of tagging grow with the number of nodes?

usage: growth.py BUILD [--sizes N,...] [--folder FOLDER] [--runs R]

For every size: processor time of `stemma tag --threads 1 --no-sync`, of cp writing the same bytes,
their ratio, and the peak memory less the mapped file, in bytes a node.
"""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

from peers import run_once


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--sizes", default="1000,10000,100000,1000000")
    options.add_argument("--folder", default=None)
    options.add_argument("--runs", type=int, default=3)
    options = options.parse_args()
    build = options.build.resolve()
    stemma = str(build / "stemma")
    print("| nodes | tag ms | cp ms | ratio | us a node | bytes a node above the file |")
    print("|--:|--:|--:|--:|--:|--:|")
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            folder = pathlib.Path(folder)
            model, tagged, out = folder / "in.onnx", folder / "tagged.onnx", folder / "out.onnx"
            made = subprocess.run([build / "bench/generate_model", str(size), model], check=True,
                                  capture_output=True, text=True).stdout
            nodes = int(made.split()[0])
            tag = [stemma, "tag", str(model), "--no-sync", "-q", "--threads", "1", "-o"]
            subprocess.run([*tag, tagged], check=True)
            tags, copies = [], []
            for _ in range(options.runs):
                tags.append(run_once([*tag, str(out)], out))
                copies.append(run_once(["cp", str(tagged), str(out)], out))
            run_once(["/bin/true"], out)
            work = statistics.median(figure[1] for figure in tags)
            copy = statistics.median(figure[1] for figure in copies)
            peak = statistics.median(figure[2] for figure in tags) * 1024 - model.stat().st_size
            print(f"| {nodes} | {work * 1e3:.1f} | {copy * 1e3:.1f} | {work / copy:.1f} | "
                  f"{work / nodes * 1e6:.2f} | {peak / nodes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
