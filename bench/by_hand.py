#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How do the algorithms compare with hand-written loops for the same task on one kind of data?

usage: by_hand.py BUILD [--runs R]

Runs the benchmarks that alternate the two and compare their results (bench/beside.hpp). Prints for each algorithm
the time of its slowest scene, and the lowest and highest ratio over all scenes; each figure is the median of the runs.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--runs", type=int, default=3)
    options = options.parse_args()
    print("| benchmark | algorithm | scenes | longest, ms | times by hand |")
    print("|---|---|--:|--:|--:|")
    for program in sorted((options.build / "bench").glob("*_bench")):
        scenes = {}  # algorithm: scene: time and ratio of each run
        for _ in range(options.runs):
            output = subprocess.run([program, "--benchmark_filter=manual_time", "--benchmark_format=json"],
                                    check=True, capture_output=True, text=True).stdout
            for one in json.loads(output or '{"benchmarks": []}')["benchmarks"]:
                if one.get("error_occurred"):
                    sys.exit(f"{program.name}: {one['name']}: {one['error_message']}")
                algorithm, _, scene = one["name"].partition("/")
                scenes.setdefault(algorithm, {}).setdefault(scene, []).append((one["real_time"], one["ratio"]))
        for algorithm, runs in scenes.items():
            times, ratios = zip(*(map(statistics.median, zip(*measured)) for measured in runs.values()))
            print(f"| `{program.name}` | `{algorithm}` | {len(runs)} | {max(times):.3g} | "
                  f"{min(ratios):.2f} to {max(ratios):.2f} |", flush=True)


if __name__ == "__main__":
    main()
