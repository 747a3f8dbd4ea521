#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `analyze --cost` and `profile`, and compares with traces of PyTorch.

usage: cost_test.py PROGRAM FIXTURES [unittest arguments]

The traces beside the fixtures have, for every product that PyTorch computed, the shapes of its operands
and the modules it ran in. Counts of these are independent of ONNX.
"""
import collections
import csv
import io
import json
import math
import sys
import unittest
import xml.dom.minidom

from onnx_edits import Message
from program_test import FIXTURES, PROGRAM, Case, run

# Fixtures whose traced graph differs from the exported one: loops and scripted parts are not traced
# inside, so that only fixtures without them can agree.
TRACED = ("bert_micro", "bert_micro_12l", "bert_micro_fresh", "bert_mlm", "bert_tiny", "densenet121",
          "googlenet", "gpt2_tiny", "lstm_classifier", "mlp", "mobilenet_v2", "quirks", "resnet18",
          "shared_twice", "two_tower", "unet_tiny", "vit_b_16")


def multiplications(event):
    """Cost of one traced operation, by the shapes of its operands."""
    shapes, outputs = event["input_shapes"], event["output_shapes"]
    op = event["op"].split(".")[1]
    if op == "convolution":
        if outputs[0][-1] > shapes[0][-1] and shapes[0][1] == shapes[1][0]:  # a transposed one
            return math.prod(shapes[0]) * math.prod(shapes[1][1:])
        return math.prod(outputs[0]) * math.prod(shapes[1][1:])
    if op in ("mm", "bmm"):
        return math.prod(outputs[0]) * shapes[0][-1]
    if op in ("addmm", "baddbmm"):
        return math.prod(outputs[0]) * shapes[1][-1]
    return 0


def counted_by_hand(folder):
    """By module, descendants included."""
    by_module = collections.Counter()
    for event in json.loads((folder / "trace.json").read_text())["events"]:
        if event.get("op", "").startswith("aten."):
            macs = multiplications(event)
            for module in set(event["stack"]) if macs else ():
                by_module[module] += macs
    return by_module


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
        """Values that make the exported model the traced one."""
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

    def test_extents_that_are_not_fixed_stay_in_the_numbers(self):
        cost = self.cost(FIXTURES / "bert_micro" / "model.onnx")
        self.assertEqual(cost["dimensions"], ["batch_size", "sequence"])
        # Two layers of width 32, hidden width 64: four projections, two products of attention.
        linear = 2 * (4 * 32 * 32 + 2 * 32 * 64)
        self.assertEqual(cost["modules"][0]["macs"],
                         f"{2 * 2 * 32}*batch_size*sequence^2 + {linear}*batch_size*sequence + "
                         f"{32 * 32}*batch_size")

    def test_children_add_up(self):
        model = FIXTURES / "resnet18" / "model.structure.onnx"
        cost = self.cost(model, "--dim=batch=1")
        for number in ("macs", "flops"):
            self.assertEqual(cost["modules"][0][number],
                             sum(one["own_" + number] for one in cost["modules"]))

    def test_the_table_of_nodes_lists_those_that_match_the_filter(self):
        table = ["analyze", FIXTURES / "mlp" / "model.onnx", "--cost", "--format", "csv", "--table", "nodes"]
        rows = csv.DictReader(io.StringIO(self.succeed(*table, "--filter", "op:Gemm").stdout))
        self.assertEqual([row["name"] for row in rows], ["/fc1/Gemm", "/fc2/Gemm"])

    def test_what_is_unknown_is_said(self):
        cost = self.cost(FIXTURES / "control_flow" / "model.onnx")
        self.assertGreater(cost["modules"][0]["loops"], 0)
        text = self.succeed("analyze", FIXTURES / "control_flow" / "model.onnx", "--cost").stdout
        self.assertIn("counted as if run once: the bodies of 1 loop\n", text)

    def test_modules_say_how_many_nodes_are_not_counted(self):
        graph = Message()
        for module, given, output, op in (("a", "x", "h", "Relu"), ("b", "h", "y", "Odd")):
            graph.add(1, Message().add(1, given).add(2, output).add(3, f"/{module}/{op}").add(4, op))
        extents = Message().add(1, Message().add(1, 2))
        typed = Message().add(1, Message().add(1, 1).add(2, extents))
        graph.add(11, Message().add(1, "x").add(2, typed)).add(12, Message().add(1, "y"))
        path = self.folder / "odd.onnx"
        path.write_bytes(Message().add(1, 8).add(7, graph).add(8, Message().add(2, 17)).bytes())
        lines = self.succeed("analyze", path, "--cost").stdout.splitlines()
        modules = lines[0].index("module")
        rows = {line[modules:].split(",")[0]: line for line in lines}
        self.assertTrue(rows["b"].endswith("b, 1 node not counted"), rows)
        self.assertTrue(rows["a"].endswith(" a"), rows)
        self.assertIn(", 1 node not counted", lines[1])

    def test_unknown_dimensions_are_refused_with_those_that_are_known(self):
        self.fail_with(2, "analyze", FIXTURES / "bert_micro" / "model.onnx", "--cost",
                       "--dim=width=3", saying="known: batch_size, sequence")
        self.fail_with(2, "analyze", FIXTURES / "bert_micro" / "model.onnx", "--cost", "--dim=3",
                       saying="is not NAME=N")

    def test_columns_of_a_tree_are_the_numbers_of_analyze(self):
        model = FIXTURES / "mlp" / "model.onnx"
        lines = self.succeed("tree", model, "--columns", "macs,flops,activations", "--sort", "macs",
                             "--dim", "batch=2").stdout.splitlines()
        self.assertEqual(lines[0].split()[-3:], ["macs", "flops", "activations"])
        self.assertEqual(self.succeed("tree", model, "--columns", "nodes,params").stdout,
                         self.succeed("tree", model, "--columns", "nodes,parameters").stdout)
        rows = {row["module"]: row for row in csv.DictReader(io.StringIO(
            self.succeed("analyze", model, "--cost", "--dim=batch=2", "--format", "csv").stdout))}
        for line, module in zip(lines[1:], ["", "fc1", "fc2", "relu"]):
            row = rows[module]
            self.assertEqual(line.split()[-3:], [row["macs"], row["flops"], row["activations"]])
        self.assertIn("not fixed, taken as 64: batch\n",
                      self.succeed("tree", model, "--columns", "macs").stdout)
        self.fail_with(2, "tree", model, "--dim", "batch=2", saying="--dim: requires columns macs")
        self.fail_with(2, "tree", model, "--columns", "time", saying="time: requires --profile FILE")

    def test_modules_that_are_alike_share_a_line_if_they_cost_the_same(self):
        def value(name, extents):
            shape = Message()
            for extent in extents:
                shape.add(1, Message().add(1, extent))
            return Message().add(1, name).add(2, Message().add(1, Message().add(1, 1).add(2, shape)))

        graph = Message()
        for layer, (given, output) in enumerate(("xa", "ab", "by")):
            pool = Message().add(1, given).add(2, output).add(3, f"/layer.{layer}/pool/MaxPool").add(4, "MaxPool")
            for name in ("kernel_shape", "strides"):
                pool.add(5, Message().add(1, name).add(8, 2).add(8, 2).add(20, 7))
            graph.add(1, pool)
        graph.add(11, value("x", [1, 8, 64, 64])).add(12, value("y", [1, 8, 8, 8]))
        path = self.folder / "pools.onnx"
        path.write_bytes(Message().add(1, 8).add(7, graph).add(8, Message().add(2, 17)).bytes())
        self.assertIn("0-2", self.succeed("tree", path, "--columns", "nodes").stdout)
        for column in ("flops", "activations"):
            for how in (["--columns", column], ["--columns", "nodes", "--sort", column]):
                self.assertNotIn("0-", self.succeed("tree", path, *how).stdout)
        self.assertIn("0-2", self.succeed("tree", path, "--columns", "macs").stdout)

    def test_queries_are_sorted_by_cost(self):
        model = FIXTURES / "mlp" / "model.onnx"
        done = self.succeed("query", model, "nodes>0", "--sort", "macs", "--top", "2")
        self.assertEqual(done.stdout.split(), ["fc1", "fc2"])
        self.assertEqual(done.stderr, "stemma: not fixed, taken as 64: batch\n")
        done = self.succeed("query", model, "op:*", "--sort", "flops", "--dim", "batch=2")
        self.assertEqual((done.stdout.split(), done.stderr),
                         (["/fc1/Gemm", "/fc2/Gemm", "/relu/Relu"], ""))
        self.fail_with(2, "query", model, "op:*", "--dim", "batch=2", saying="--dim: requires --sort macs")

    def test_rows_of_csv_are_the_modules(self):
        model = FIXTURES / "mlp" / "model.onnx"
        rows = list(csv.DictReader(io.StringIO(
            self.succeed("analyze", model, "--cost", "--dim=batch=2", "--format", "csv").stdout)))
        self.assertEqual([row["module"] for row in rows], ["", "fc1", "relu", "fc2"])
        self.assertEqual([row["macs"] for row in rows], ["112", "64", "0", "48"])


class Profile(Case):
    MODEL = "bert_micro"

    def profile(self, text, *arguments, name="profile.csv"):
        path = self.folder / name
        path.write_text(text)
        return json.loads(self.succeed("profile", FIXTURES / self.MODEL / "model.onnx", path, "-m",
                                       FIXTURES / self.MODEL / "modules.json", "--format", "json",
                                       *arguments).stdout)

    def module(self, report, path):
        return next(one for one in report["modules"] if one["path"] == path)

    def test_csv_with_units_and_runs(self):
        report = self.profile("run,name,time (ms)\n1,/pooler/dense/Gemm,9\n2,/pooler/dense/Gemm,2\n"
                              "3,/pooler/dense/Gemm,4\n3,elsewhere,1\n")
        self.assertEqual((report["runs"], report["dropped_runs"]), (2, 1))
        self.assertEqual(report["us"], 7000)
        self.assertEqual(report["unmatched"],
                         [{"name": "elsewhere", "op_type": "", "us": 1000, "calls": 1}])
        pooler = self.module(report, "pooler")
        self.assertEqual((pooler["us"], pooler["min_us"], pooler["max_us"], pooler["calls"]),
                         (6000, 2000, 4000, 2))

    def test_fused_layers_belong_to_the_common_module_or_are_divided(self):
        layers = json.dumps([{"count": 10}, {
            "name": "/pooler/dense/Gemm + PWN(/pooler/activation/Tanh)", "timeMs": 5.0,
            "averageMs": 0.5, "percentage": 60}, {
            "name": "{ForeignNode[/encoder/layer.0/attention/self/query/MatMul..."
                    "/encoder/layer.0/attention/self/key/MatMul]}", "timeMs": 2.0, "averageMs": 0.2,
            "percentage": 40}])
        report = self.profile(layers, name="layers.json")
        self.assertEqual(report["format"], "tensorrt")
        self.assertEqual(report["us"], 7000)
        self.assertEqual(self.module(report, "pooler")["own_us"], 5000)
        self.assertEqual(self.module(report, "encoder.layer.0.attention.self")["own_us"], 2000)
        divided = self.profile(layers, "--divide", name="layers.json")
        self.assertTrue(divided["divided"])
        self.assertAlmostEqual(divided["us"], 7000)
        self.assertAlmostEqual(sum(one["own_us"] for one in divided["modules"]), 7000)
        self.assertGreater(self.module(divided, "pooler.dense")["own_us"], 4000)

    def test_openvino_counts_only_what_ran(self):
        report = self.profile("layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
                              "/pooler/dense/Gemm;EXECUTED;FullyConnected;gemm_f32;0.5;0.5\n"
                              "/pooler/activation/Tanh;NOT_RUN;Tanh;undef;0.25;0.25\n"
                              "Total;;;;0.5;0.5\n")
        self.assertEqual((report["format"], report["us"]), ("openvino", 500))

    def test_qnn_rows_of_nodes(self):
        head = ("Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,"
                "Event Identifier\n")
        report = self.profile(head + "1,EXECUTE,900,US,BACKEND,ROOT,QNN (execute) time\n"
                              "1,NODE,30,CYCLES,BACKEND,SUB-EVENT,/pooler/dense/Gemm:OpId_21 (cycles)\n")
        self.assertEqual((report["format"], report["us"]), ("qnn", 30))
        self.assertEqual(self.module(report, "pooler.dense")["us"], 30)

    def test_a_file_that_is_no_profile_is_refused(self):
        path = self.folder / "profile.json"
        for text in ("", "{}", "[", '[{"cat": "Session", "name": "model_run"}]', "name,time\nx,y\n"):
            path.write_text(text)
            self.fail_with(3, "profile", FIXTURES / "mlp" / "model.onnx", path)

    def test_a_tree_with_times(self):
        path = self.folder / "profile.csv"
        path.write_text("name,time\n/fc1/Gemm,30\n/relu/Relu,10\n/fc2/Gemm,2000\nother,5\n")
        model = FIXTURES / "mlp" / "model.onnx"
        text = self.succeed("tree", model, "--profile", path, "--sort", "time").stdout
        times = [line.split(" ms")[0].split()[-1] for line in text.splitlines()[1:5]]
        self.assertEqual(times, ["2.040", "2.000", "0.030", "0.010"])
        self.assertIn("2.045 ms per run in 1 run, of which 0.005 ms without a node\n", text)
        self.fail_with(2, "tree", model, "--profile", path, "--format", "json",
                       saying="--profile: requires --format text")

    def test_two_profiles_side_by_side(self):
        before, after = self.folder / "before.csv", self.folder / "after.csv"
        before.write_text("run,name,time\n1,/fc1/Gemm,90\n2,/fc1/Gemm,30\n3,/fc1/Gemm,50\n")
        after.write_text("name,time\n/fc1/Gemm,20\n/relu/Relu,10\nother,5\n")
        model = FIXTURES / "mlp" / "model.onnx"
        both = ("profile", model, before, "--against", after)
        report = json.loads(self.succeed(*both, "--format", "json").stdout)
        self.assertEqual((report["first"]["us"], report["second"]["us"]), (40, 35))
        self.assertEqual({one["path"]: one["difference_us"] for one in report["modules"]},
                         {"": -10, "fc1": -20, "relu": 10})
        self.assertEqual(self.succeed(*both, "--format", "csv").stdout.splitlines()[1:],
                         [",,40,30,-10,0,0", "fc1,,40,20,-20,40,20", "relu,,0,10,10,0,10",
                          "(unmatched),,0,5,5,0,5"])
        text = self.succeed(*both).stdout
        self.assertRegex(text, r"0\.040 +0\.020 +-0\.020 +0\.50x +fc1")
        self.fail_with(2, *both, "--to", "flame", saying="shows one profile, not two")
        self.fail_with(2, "profile", model, before, "--against-model", model,
                       saying="requires --against PROFILE")

    def test_an_optimized_model_gets_the_modules_of_its_original(self):
        optimized = FIXTURES / self.MODEL / "unnamed.onnx"
        original = FIXTURES / self.MODEL / "model.onnx"
        values = self.succeed("query", optimized, "op:*", "--list", "values", "-m", original).stdout.split()
        path = self.folder / "profile.csv"
        path.write_text("name,time\n" + "".join(f"{name},1\n" for name in values))
        report = json.loads(self.succeed("profile", optimized, path, "--original", original, "--format",
                                         "json").stdout)
        carried = json.loads(self.succeed("profile", optimized, path, "-m", original, "--format",
                                          "json").stdout)
        self.assertEqual(report, carried)
        self.assertEqual(report["modules"][0]["us"] + report["unmatched_us"], report["us"])
        self.assertGreater(self.module(report, "encoder.layer.0")["us"], 0)
        model = Message((FIXTURES / "mlp" / "model.onnx").read_bytes())
        folded = self.folder / "folded.onnx"  # an optimizer left no node
        folded.write_bytes(model.put(7, [Message(model.all(7)[0]).drop(1)]).bytes())
        report = json.loads(self.succeed("profile", folded, path, "--original", original, "--format",
                                         "json").stdout)
        self.assertEqual(report["unmatched_us"], report["us"])
        self.fail_with(1, "profile", optimized, path, "--original", FIXTURES / "mlp" / "model.onnx",
                       saying="is not the original of this model")
        self.fail_with(2, "profile", optimized, path, "--original", FIXTURES / self.MODEL / "modules.json",
                       saying="--original: is not an ONNX file")

    def test_pictures_and_traces(self):
        path = self.folder / "profile.csv"
        path.write_text("name,time\n/fc1/Gemm,30\n/relu/Relu,10\nother,5\n")
        command = ("profile", FIXTURES / "mlp" / "model.onnx", path)
        svg = self.succeed(*command, "--to", "flame").stdout
        self.assertIn("<title>fc1: 0.03 ms, 66.667 %</title>", svg)
        self.assertEqual(xml.dom.minidom.parseString(svg).documentElement.tagName, "svg")
        for label in xml.dom.minidom.parseString(svg).getElementsByTagName("svg")[1:]:
            slice_of = next(one for one in label.parentNode.childNodes if one.tagName == "rect")
            self.assertLess(float(label.getAttribute("width")), float(slice_of.getAttribute("width")))
        trace = json.loads(self.succeed(*command, "--to", "chrome").stdout)["traceEvents"]
        self.assertEqual({e["args"]["path"]: (e["ts"], e["dur"]) for e in trace if e["name"] != "(unmatched)"},
                         {"": (0, 40), "fc1": (0, 30), "relu": (30, 10)})
        scope = json.loads(self.succeed(*command, "--to", "speedscope").stdout)
        events = scope["profiles"][0]["events"]
        self.assertEqual([e["at"] for e in events], sorted(e["at"] for e in events))
        self.assertEqual(sum(1 if e["type"] == "O" else -1 for e in events), 0)
        overlay = json.loads(self.succeed(*command, "--to", "model-explorer").stdout)
        values = [one["value"] for graph in overlay.values() for one in graph["results"].values()]
        self.assertEqual(sorted(values), [10, 30])


# By name of an extent and of a fixture.
SIZES = {"batch": 1, "batch_size": 2, "sequence": 9, ("gpt2_tiny", "sequence"): 8, "texts": 3, "images": 4,
         ("shared_twice", "batch"): 2, ("quirks", "batch"): 2, ("mlp", "batch"): 2}


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
