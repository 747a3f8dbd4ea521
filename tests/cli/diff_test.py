#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares models with copies that have known edits: every edited module must be reported, and no other.

usage: diff_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import random
import re
import sys
import unittest

from onnx_edits import FLOAT, Message, Model
from program_test import FIXTURES, Case, run

EXPORTS = ["bert_micro", "bert_micro_12l", "gpt2_tiny", "two_tower", "unet_tiny", "lstm_classifier"]
DATA = FIXTURES.parent if FIXTURES else None
DYNAMO = ["dynamo", "builder"]


def layer(number):
    return f"/encoder/layer.{number}"


def result_of(number):
    return f"{layer(number)}/output/LayerNorm/LayerNormalization_output_0"


class Diff(Case):
    def path(self, name):
        folder = FIXTURES / name
        return folder / "model.onnx" if folder.is_dir() else DATA / "dialects" / f"{name}.onnx"

    def diff(self, first, second, *more):
        """The reported modules: path in the first model, else in the second, and changes."""
        result = run("diff", first, second, "--format", "json", *more)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if report["equal"] else 1)
        named = {one["second"] if one["first"] is None else one["first"]: one["changes"]
                 for one in report["modules"]}
        return report, named

    def edited(self, name, edit):
        model = Model(self.path(name))
        edit(model)
        return self.diff(self.path(name), model.write(self.folder / "edited.onnx"))

    def module_of(self, name, node):
        """The module of a node of a fixture according to PyTorch."""
        truth = json.loads((FIXTURES / name / "truth.json").read_text())
        return next(one["module"] for one in truth["nodes"] if one["original"] == node)

    def test_a_model_is_equal_to_itself_whatever_its_names_are(self):
        for name in EXPORTS + DYNAMO:
            diff, named = self.diff(self.path(name), self.path(name))
            self.assertEqual(named, {}, name)
        for name in EXPORTS:
            _, named = self.diff(self.path(name), FIXTURES / name / "anonymous.onnx")
            self.assertEqual(named, {}, name)

    def test_one_weight(self):
        for name in EXPORTS + DYNAMO:
            choose = random.Random(name)
            weights = [one.text(8) for one in Model(self.path(name)).tensors
                       if one.all(2) == [FLOAT] and one.all(9) and len(one.all(9)[0]) >= 64
                       and one.text(8).endswith((".weight", ".bias"))]
            for weight in choose.sample(weights, min(3, len(weights))):
                diff, named = self.edited(name, lambda model: model.change_weight(weight))
                self.assertEqual(named, {weight.rpartition(".")[0]: ["weights"]}, (name, weight))
                (change,) = diff["modules"][0]["weights"]
                self.assertEqual(change["first"], weight)
                self.assertEqual(change["difference"]["different"], 1)
                self.assertAlmostEqual(change["difference"]["absolute"], 0.5, places=5)

    def test_one_weight_with_a_name_that_tells_nothing(self):
        for name in ["bert_micro", "gpt2_tiny"]:
            model = Model(self.path(name))
            weights = [one.text(8) for one in model.tensors if one.text(8).startswith("onnx::MatMul")]
            for weight in weights[:3]:
                (reader,) = model.readers(weight)
                _, named = self.edited(name, lambda m: m.change_weight(weight))
                self.assertEqual(named, {self.module_of(name, reader.name): ["weights"]}, weight)

    def test_scalars_stored_by_nodes_or_as_initializers(self):
        path = FIXTURES / "bert_micro" / "model.onnx"
        model = Model(path)
        for node in list(model.nodes):
            value = Message(node.all(5)[0]) if node.op_type == "Constant" else None
            if value and not Message(value.all(5)[0]).all(1):
                model.nodes.remove(node)
                model.tensors.append(Message(value.all(5)[0]).put(8, [node.outputs[0]]))
        stored = model.write(self.folder / "stored.onnx")
        self.assertIn("41 the same; 196 and 196 nodes", self.succeed("diff", path, stored).stdout)

    def test_one_operator(self):
        for name in ["bert_micro", "bert_micro_12l", "gpt2_tiny", "two_tower", "unet_tiny"]:
            choose = random.Random(name)
            model = Model(self.path(name))
            places = [one.name for one in model.nodes
                      if one.op_type in ("Softmax", "Relu", "Erf", "Conv", "MatMul", "Gemm")
                      and not set(one.outputs) & model.outputs()]
            for place in choose.sample(places, 3):
                scope = self.module_of(name, place)
                _, named = self.edited(name, lambda m: m.insert_operator(m.node(place)))
                self.assertEqual(named, {scope: ["relowered"]}, (name, place))

    def test_an_operator_of_another_type(self):
        for name, before, after in [("bert_micro", "Erf", "Tanh"), ("unet_tiny", "Relu", "Sigmoid"),
                                    ("two_tower", "Softmax", "LogSoftmax")]:
            place = next((one.name for one in Model(self.path(name)).nodes
                          if one.op_type == before), None)
            if place is None:
                continue
            scope = self.module_of(name, place)
            _, named = self.edited(name, lambda m: m.change_operator(m.node(place), after))
            self.assertEqual(named, {scope: ["relowered"]}, (name, place))

    def test_a_module_with_other_operators(self):
        for name in ["bert_micro", "bert_micro_12l"]:
            for place in [one.name for one in Model(self.path(name)).nodes
                          if one.op_type == "Softmax"][:3]:
                scope = self.module_of(name, place)
                diff, named = self.edited(name, lambda m: m.lower_softmax(m.node(place)))
                self.assertEqual(named, {scope: ["relowered"]}, (name, place))
                self.assertTrue(diff["modules"][0]["same_boundary"])

    def test_modules_lowered_as_a_whole(self):
        for name, op_type, lower in [("bert_micro_12l", "LayerNormalization", Model.lower_normalization),
                                     ("two_tower", "Gemm", Model.lower_gemm)]:
            places = [one.name for one in Model(self.path(name)).nodes if one.op_type == op_type]
            self.assertGreater(len(places), 3, name)
            for chosen in (places[1:2], places[2:4], places):
                def lower_all(model):
                    for place in chosen:
                        lower(model, model.node(place))
                diff, named = self.edited(name, lower_all)
                modules = {self.module_of(name, place) for place in chosen}
                self.assertEqual(named, {module: ["relowered"] for module in modules}, name)
                self.assertTrue(all(one["same_boundary"] for one in diff["modules"]), name)

    def test_a_quantized_module(self):
        for name in ["bert_micro", "bert_micro_12l"]:
            places = [one.name for one in Model(self.path(name)).nodes
                      if one.op_type == "MatMul" and "dense" in one.name][:4]
            for place in places:
                scope = self.module_of(name, place)
                _, named = self.edited(name, lambda m: m.quantize_weight(m.node(place), 1))
                self.assertEqual(named, {scope: ["quantized"]}, (name, place))

    def test_an_operator_set(self):
        for name in ["bert_micro", "dynamo"]:
            diff, named = self.edited(name, lambda model: model.raise_opset(99))
            self.assertEqual(named, {})
            self.assertEqual([one["second"] for one in diff["header"]], ["99"])
            self.assertFalse(diff["equal"])

    def test_a_layer_more_and_one_less(self):
        name = "bert_micro_12l"
        for at in [3, 7]:
            def more(model):
                for number in range(11, at, -1):
                    model.move_scope(layer(number), layer(number + 1))
                model.repeat_layer(layer(at), layer(at + 1), result_of(at - 1))
            diff, named = self.edited(name, more)
            added = [one["second"] for one in diff["modules"] if one["changes"] == ["added"]]
            self.assertTrue(added)
            self.assertTrue(all(path.startswith(f"encoder.layer.{at + 1}") for path in added))
            others = {one["first"]: one["second"] for one in diff["modules"]
                      if one["changes"] == ["renamed"]}
            self.assertEqual(others, {f"encoder.layer.{number}": f"encoder.layer.{number + 1}"
                                      for number in range(at + 1, 12)})
            self.assertEqual(len(diff["modules"]), len(added) + len(others))
            _, named = self.edited(name, lambda model: model.remove_layer(layer(at),
                                                                          result_of(at - 1)))
            self.assertIn(f"encoder.layer.{at}", named)
            for path, changes in named.items():
                self.assertTrue(path.startswith(f"encoder.layer.{at}"), path)
                self.assertEqual(changes, ["removed"])

    def test_a_layer_moved(self):
        name = "bert_micro_12l"
        for at in [2, 5]:
            _, named = self.edited(name, lambda m: m.move_scope(layer(at), f"/extra/layer.{at}"))
            self.assertEqual(named, {f"encoder.layer.{at}": ["moved"], "extra": ["added"],
                                     "extra.layer": ["added"]})
            _, named = self.edited(name, lambda m: m.swap_layers(layer(at), layer(at + 1),
                                                                 result_of(at - 1)))
            self.assertEqual(named, {f"encoder.layer.{at}": ["moved"],
                                     f"encoder.layer.{at + 1}": ["moved"]})

    def test_text_is_a_tree_of_what_changed(self):
        model = Model(self.path("bert_micro"))
        place = next(one for one in model.nodes if one.op_type == "Softmax")
        model.lower_softmax(place)
        edited = model.write(self.folder / "edited.onnx")
        said = run("diff", self.path("bert_micro"), edited, "--nodes")
        self.assertEqual(said.returncode, 1)
        self.assertIn("relowered", said.stdout)
        self.assertIn("- Softmax", said.stdout)
        self.assertIn("+ ReduceSum", said.stdout)
        self.assertNotIn("pooler", said.stdout)
        said = run("diff", edited, edited)
        self.assertEqual(said.returncode, 0)

    def test_small_differences_can_be_tolerated(self):
        model = Model(self.path("bert_micro"))
        weight = next(one.text(8) for one in model.tensors if one.text(8).endswith(".weight"))
        model.change_weight(weight)
        edited = model.write(self.folder / "edited.onnx")
        for more in (["--tolerance", "2"], ["--no-weights"]):
            self.diff(self.path("bert_micro"), edited, *more)
            self.succeed("diff", self.path("bert_micro"), edited, *more)

    def test_bad_input(self):
        self.fail_with(3, "diff", self.path("bert_micro"), self.folder / "missing.onnx")
        self.assertEqual(run("diff", self.path("bert_micro")).returncode, 2)
        path = self.path("bert_micro")
        self.fail_with(2, "diff", path, path, path, saying="only --format html shows more than two models")
        self.fail_with(2, "diff", *[path] * 9, "--format", "html", saying="8 models fit side by side")
        self.fail_with(2, "diff", path, path, "-o", self.folder / "text", saying="does not apply to text")

    def test_a_page_of_equal_models(self):
        page = self.folder / "page.html"
        path = self.path("bert_micro")
        self.succeed("diff", path, path, "--format", "html", "-o", page, "--no-sync")
        (steps,) = re.findall('id="steps">(.*?)</script>', page.read_text(), re.DOTALL)
        (step,) = json.loads(steps)["steps"]
        self.assertEqual(step["changes"], [])
        self.assertEqual(step["nodes"][::2], step["nodes"][1::2])
        self.assertEqual(step["same"], step["of"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
