#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `analyze --cost` and compares with what PyTorch was seen to compute.

usage: cost_test.py PROGRAM FIXTURES [unittest arguments]

The traces beside the fixtures say of every product that PyTorch computed the shapes of its operands,
and the modules that it ran in. Counting these knows nothing of ONNX.
"""
import collections
import csv
import io
import json
import math
import sys
import unittest

from program_test import FIXTURES, PROGRAM, Case, run

# Where the traced graph and the exported one differ: nothing is traced inside of loops and scripted
# parts as often as it is written, so that only fixtures without them can agree.
TRACED = ("bert_micro", "bert_micro_12l", "bert_micro_fresh", "bert_mlm", "bert_tiny", "densenet121",
          "googlenet", "gpt2_tiny", "lstm_classifier", "mlp", "mobilenet_v2", "quirks", "resnet18",
          "shared_twice", "two_tower", "unet_tiny", "vit_b_16")


def multiplications(event):
    """Those of one traced operation, by the shapes of its operands."""
    shapes, made = event["input_shapes"], event["output_shapes"]
    op = event["op"].split(".")[1]
    if op == "convolution":
        return math.prod(made[0]) * math.prod(shapes[1][1:])
    if op in ("mm", "bmm"):
        return math.prod(made[0]) * shapes[0][-1]
    if op in ("addmm", "baddbmm"):
        return math.prod(made[0]) * shapes[1][-1]
    return 0


def counted_by_hand(folder):
    """By module, with all below it."""
    by_module = collections.Counter()
    for event in json.loads((folder / "trace.json").read_text())["events"]:
        if event.get("op", "").startswith("aten."):
            macs = multiplications(event)
            for module in set(event["stack"]) if macs else ():
                by_module[module] += macs
    return by_module


def traced_inputs(folder):
    """The shapes of the inputs that were traced: the operands that nothing traced had made."""
    trace = json.loads((folder / "trace.json").read_text())
    first = next(e for e in trace["events"] if e.get("kind") == "enter")
    return first.get("input_shapes") or []


def model_of(fixture):
    folder = FIXTURES / fixture
    whole = folder / "model.onnx"
    return whole if whole.exists() else folder / "model.structure.onnx"


class Cost(Case):
    def cost(self, model, *arguments, capture=None):
        given = ["-m", capture] if capture else []
        return json.loads(self.succeed("analyze", model, *given, "--cost", "--format", "json",
                                       *arguments).stdout)

    def dims_of(self, fixture, cost):
        """Values with which the exported model is the traced one."""
        sizes = {}
        for name in cost["dimensions"]:
            sizes[name] = SIZES.get((fixture, name), SIZES.get(name))
            self.assertIsNotNone(sizes[name], f"{fixture}: {name}")
        return [f"--dim={name}={size}" for name, size in sizes.items()]

    def test_multiplications_are_those_that_were_traced(self):
        compared = 0
        for fixture in TRACED:
            folder = FIXTURES / fixture
            capture = folder / "modules.json"
            open_cost = self.cost(model_of(fixture), capture=capture)
            cost = self.cost(model_of(fixture), *self.dims_of(fixture, open_cost), capture=capture)
            self.assertEqual(cost["dimensions"], [], fixture)
            by_hand = counted_by_hand(folder)
            modules = {one["path"]: one for one in cost["modules"]}
            self.assertLessEqual(abs(modules[""]["macs"] - by_hand[""]), by_hand[""] / 1000, fixture)
            for path, macs in by_hand.items():
                if path in modules:
                    compared += 1
                    self.assertLessEqual(abs(modules[path]["macs"] - macs), macs / 1000,
                                         f"{fixture} {path}")
        self.assertGreater(compared, 400)


# By name of an extent, and of some fixtures.
SIZES = {"batch": 1, "batch_size": 2, "sequence": 9}


if __name__ == "__main__":
    sys.argv[1:3] = []
    unittest.main()
