#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Equal modules are recognized despite a different order of nodes, in models with nodes shuffled to
other topological orders.

usage: equal_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import random
import sys
import unittest

from onnx_edits import Model
from program_test import FIXTURES, Case, run

LAYERS = [f"encoder.layer.{number}" for number in range(12)]


def shuffle(model, seed):
    """Shuffles the nodes to a random topological order."""
    choose = random.Random(seed)
    producers = {value: one for one in model.nodes for value in one.outputs}
    waiting = {id(one): sum(value in producers for value in set(one.inputs)) for one in model.nodes}
    ready = [one for one in model.nodes if waiting[id(one)] == 0]
    readers = {}
    for one in model.nodes:
        for value in set(one.inputs):
            readers.setdefault(value, []).append(one)
    ordered = []
    while ready:
        one = ready.pop(choose.randrange(len(ready)))
        ordered.append(one)
        for value in one.outputs:
            for reader in readers.get(value, []):
                waiting[id(reader)] -= 1
                if waiting[id(reader)] == 0:
                    ready.append(reader)
    assert len(ordered) == len(model.nodes)
    model.nodes = ordered


class Equal(Case):
    def edited(self, name, edit):
        model = Model(FIXTURES / name / "model.onnx")
        edit(model)
        self.written = getattr(self, "written", 0) + 1
        return model.write(self.folder / f"edited{self.written}.onnx")

    def shuffled(self, name, seed):
        return self.edited(name, lambda model: shuffle(model, seed))

    def functions(self, path, output):
        answer = json.loads(self.succeed("fold", path, "-o", output, "--format", "json").stdout)
        return sorted((one["name"], one["calls"], one["nodes"]) for one in answer["functions"])

    def like(self, path, module):
        answer = json.loads(self.succeed("query", path, f"like:{module}", "--format", "json").stdout)
        return [one["path"] for one in answer["modules"]]

    def test_fold_gives_equal_modules_one_function_in_any_order(self):
        for name in ["bert_micro_12l", "gpt2_tiny", "bert_mlm"]:
            before = self.functions(FIXTURES / name / "model.onnx", self.folder / "folded.onnx")
            for seed in range(3):
                path = self.shuffled(name, seed)
                folded = self.folder / "folded.onnx"
                self.assertEqual(self.functions(path, folded), before, (name, seed))
                back = self.folder / "back.onnx"
                self.succeed("unfold", folded, "-o", back)
                self.assertEqual(back.read_bytes(), path.read_bytes(), (name, seed))

    def quantized(self, model):
        """Every MatMul with a weight gets a DequantizeLinear at a random position."""
        for one in [one for one in model.nodes if one.op_type == "MatMul"]:
            if model.tensor(one.inputs[1]):
                model.quantize_weight(one, 1)
        shuffle(model, 7)

    def test_layers_of_a_quantized_model_are_equal(self):
        path = self.edited("bert_micro_12l", self.quantized)
        functions = self.functions(path, self.folder / "folded.onnx")
        self.assertEqual(len([one for one in functions if one[1] == 12]), len(functions) - 5, functions)
        self.assertEqual(self.like(path, "encoder.layer.3"), LAYERS)

    def test_like(self):
        path = self.shuffled("bert_micro_12l", 1)
        self.assertEqual(self.like(path, "encoder.layer.0"), LAYERS)
        self.assertEqual(self.like(path, "encoder.layer.7.attention"),
                         [f"{layer}.attention" for layer in LAYERS])
        self.assertEqual(self.like(path, "encoder.layer.*"), LAYERS)
        result = run("query", path, "like:encoder.layr.0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("similar: 'encoder.layer.0'", result.stderr)

    def test_one_layer_that_does_something_else_is_not_like_the_others(self):
        def edit(model):
            model.change_operator(next(one for one in model.nodes if one.op_type == "Softmax" and
                                       one.name.startswith("/encoder/layer.5/")), "LogSoftmax")
            shuffle(model, 2)
        path = self.edited("bert_micro_12l", edit)
        others = [layer for layer in LAYERS if layer != "encoder.layer.5"]
        self.assertEqual(self.like(path, "encoder.layer.0"), others)
        self.assertEqual(self.like(path, "encoder.layer.5"), ["encoder.layer.5"])

    def test_modules_of_two_models(self):
        name = "bert_micro_12l"
        path = self.shuffled(name, 3)
        asked = ["--module", "encoder.layer.2", "--module", "encoder.layer.9", "--format", "json"]
        answer = json.loads(self.succeed("diff", FIXTURES / name / "model.onnx", path, *asked).stdout)
        self.assertTrue(answer["same_function"])
        self.assertEqual(answer["matched"]["nodes"], answer["first"]["nodes"])
        self.assertTrue(answer["weights"])
        edited = self.edited(name, lambda model: model.change_operator(
            next(one for one in model.nodes if one.op_type == "Softmax"), "LogSoftmax"))
        result = run("diff", path, edited, "--module", "encoder.layer.0", "--nodes")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("different functions", result.stdout)
        self.assertIn("- Softmax", result.stdout)
        self.assertIn("+ LogSoftmax", result.stdout)
        self.fail_with(2, "diff", path, edited, "--module", "encoder.layer.*.attention",
                       saying="matches 12 modules; name one per model")

    def test_links_for_two_models_side_by_side(self):
        name = "bert_micro_12l"
        path = self.shuffled(name, 4)
        links = json.loads(run("diff", FIXTURES / name / "model.onnx", path,
                               "--format", "sync_navigation").stdout)
        before = [one.name for one in Model(FIXTURES / name / "model.onnx").nodes]
        after = [one.name for one in Model(path).nodes]
        self.assertGreater(len(links["mappingEntries"]), 0.9 * len(before))
        for entry in links["mappingEntries"]:
            self.assertEqual([before[int(one)] for one in entry["leftNodeIds"]],
                             [after[int(one)] for one in entry["rightNodeIds"]])
        self.fail_with(2, "diff", path, path, "--module", "encoder", "--format", "sync_navigation",
                       saying="--module: does not apply")

    def test_compare_says_the_module_of_the_first_difference(self):
        place = "/encoder/layer.1/intermediate/dense/MatMul"
        edited = self.edited("bert_micro_12l", lambda m: m.insert_operator(m.node(place)))
        result = run("compare", FIXTURES / "bert_micro_12l" / "model.onnx", edited)
        self.assertIn("structure    different in encoder.layer.1.intermediate.dense: ", result.stdout)
        answer = json.loads(run("compare", FIXTURES / "bert_micro_12l" / "model.onnx", edited,
                                "--format", "json").stdout)
        self.assertEqual(answer["structure"]["difference"]["first"]["module"],
                         "encoder.layer.1.intermediate.dense")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
