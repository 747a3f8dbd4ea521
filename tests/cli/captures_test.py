#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives the stemma program captures that do not match the model: it must say so, and must not be sure
of anything wrong.

usage: captures_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import sys
import unittest

from program_test import FIXTURES, Case, run

SURE = 0.9
BLINDED = ["unnamed", "anonymous"]  # variants of a fixture: no node names; no parameter names either
WATCHED = ("export", "torchscript", "trace", "fx")


def true_modules(fixture):
    """{name of a node without a name of its own: its module}"""
    truth = json.loads((FIXTURES / fixture / "truth.json").read_text())
    modules = {}
    for node in truth["nodes"]:
        module = next((node[key] for key in ("module", "known_module", "inferred_module")
                       if node.get(key) is not None), None)
        if module is not None:
            modules[node["opaque"]] = module
    return modules


def part(fixture, name):
    return json.loads((FIXTURES / fixture / f"{name}.json").read_text())


class Misfits(Case):
    def tag(self, fixture, variant, *captures):
        """Returns (nodes, messages)."""
        sidecar = self.folder / "sidecar.json"
        said = self.succeed("tag", FIXTURES / fixture / f"{variant}.onnx",
                            *(word for capture in captures for word in ("-m", capture)),
                            "--sidecar", sidecar).stderr
        return json.loads(sidecar.read_text())["nodes"], said

    def written(self, name, document):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(document))
        return path

    def assert_nothing_sure_from_the_capture(self, nodes):
        self.assertEqual([(node["name"], node["scope_module"], node["confidence"]) for node in nodes
                          if node["provenance"] in WATCHED and node["confidence"] >= SURE], [])

    def assert_nothing_wrong_is_sure(self, nodes, truth):
        self.assertEqual([(node["name"], node["scope_module"], truth[node["name"]], node["provenance"])
                          for node in nodes if node["name"] in truth and node["confidence"] >= SURE
                          and node["scope_module"] != truth[node["name"]]], [])

    def test_of_another_model(self):
        for fixture, other in (("bert_micro", "resnet18"), ("resnet18", "bert_micro"),
                               ("two_tower", "shared_twice"), ("unet_tiny", "mobilenet_v2"),
                               ("lstm_classifier", "mlp"), ("mobilenet_v2", "densenet121")):
            for variant in BLINDED:
                for name in ("trace", "fx"):
                    if not (FIXTURES / other / f"{name}.json").exists():
                        continue
                    with self.subTest(f"{fixture}/{variant} with {name} of {other}"):
                        nodes, said = self.tag(fixture, variant, FIXTURES / other / "modules.json",
                                               FIXTURES / other / f"{name}.json")
                        self.assert_nothing_sure_from_the_capture(nodes)
                        self.assertRegex(said, "another model|does not fit")

    def test_of_a_version_with_other_layers(self):
        for fixture, other in (("bert_micro", "bert_micro_12l"), ("bert_micro_12l", "bert_micro")):
            for variant in BLINDED:
                with self.subTest(f"{fixture}/{variant}"):
                    nodes, said = self.tag(fixture, variant, FIXTURES / other / "modules.json",
                                           FIXTURES / other / "trace.json")
                    self.assertRegex(said, "another model|does not fit|read by other operations")
                    self.assert_nothing_sure_from_the_capture(nodes)

    def test_with_modules_that_ran_in_another_order(self):
        def swapped(text, a, b):
            return text.replace(a, "\0").replace(b, a).replace("\0", b)

        for fixture, a, b in (("bert_micro", "encoder.layer.0", "encoder.layer.1"),
                              ("two_tower", "text_model", "vision_model"),
                              ("resnet18", "layer2", "layer3")):
            with self.subTest(fixture):
                text = (FIXTURES / fixture / "trace.json").read_text()
                trace = self.folder / "trace.json"
                trace.write_text(swapped(text, a, b))
                nodes, said = self.tag(fixture, "unnamed", FIXTURES / fixture / "modules.json", trace)
                self.assertRegex(said, "read by other operations|different shapes|does not fit|another model")
                self.assert_nothing_wrong_is_sure(nodes, true_modules(fixture))

    def test_with_the_modules_listed_in_another_order(self):
        """The only information is that parents come first."""
        for fixture in ("two_tower", "shared_twice"):
            document = part(fixture, "modules")
            by_level = sorted(document["modules"], key=lambda module: (module["hierarchy_level"], module["name"]))
            document["modules"] = by_level
            modules = self.written("modules", document)
            trace = FIXTURES / fixture / "trace.json"
            for variant in BLINDED:
                expected, _ = self.tag(fixture, variant, FIXTURES / fixture / "modules.json", trace)
                nodes, said = self.tag(fixture, variant, modules, trace)
                self.assertEqual(said, "")
                self.assertEqual([node["scope_module"] for node in nodes],
                                 [node["scope_module"] for node in expected])

    def test_with_events_out_of_balance(self):
        for fixture in ("bert_micro", "shared_twice", "resnet18"):
            for name, drop in (("exit", lambda i, e: e["kind"] == "exit" and i % 5 == 0),
                               ("enter", lambda i, e: e["kind"] == "enter" and i % 5 == 0)):
                for variant in BLINDED:
                    with self.subTest(f"{fixture}/{variant} without some {name}"):
                        document = part(fixture, "trace")
                        events = document["events"]
                        document["events"] = [e for i, e in enumerate(events) if not drop(i, e)]
                        self.assertLess(len(document["events"]), len(events))
                        nodes, said = self.tag(fixture, variant, FIXTURES / fixture / "modules.json",
                                               self.written("trace", document))
                        self.assertRegex(said, "truncated|are outside their module")
                        self.assert_nothing_sure_from_the_capture(nodes)
                        self.assert_nothing_wrong_is_sure(nodes, true_modules(fixture))

    def test_with_a_trace_that_was_cut(self):
        for fixture in ("bert_micro", "two_tower", "resnet18", "unet_tiny"):
            for share in (0.1, 0.5, 0.9):
                for variant in BLINDED:
                    with self.subTest(f"{fixture}/{variant}, {share} of it"):
                        document = part(fixture, "trace")
                        document["events"] = document["events"][:int(share * len(document["events"]))]
                        nodes, said = self.tag(fixture, variant, FIXTURES / fixture / "modules.json",
                                               self.written("trace", document))
                        self.assertRegex(said, "is truncated")
                        self.assert_nothing_sure_from_the_capture(nodes)
                        self.assert_nothing_wrong_is_sure(nodes, true_modules(fixture))

    def test_with_a_trace_that_was_cut_in_the_middle_of_an_event(self):
        text = (FIXTURES / "mlp" / "trace.json").read_text()
        trace = self.folder / "trace.json"
        trace.write_text(text[:len(text) * 2 // 3])
        self.fail_with(3, "tag", FIXTURES / "mlp" / "unnamed.onnx", "-m", FIXTURES / "mlp" / "modules.json",
                       "-m", trace, saying="trace.json")

    def test_with_the_record_of_another_export(self):
        nodes = [{"graph": "", "index": index, "op_type": op, "scope": "app.MLP::"}
                 for index, op in enumerate(["Gemm", "Relu", "Conv"])]
        record = self.written("export", {"export": {"nodes": nodes}})
        for variant in BLINDED:
            tags, said = self.tag("mlp", variant, FIXTURES / "mlp" / "modules.json", record)
            self.assertIn("record of another export", said)
            self.assertNotIn("export", {node["provenance"] for node in tags})


class Carried(Case):
    def test_to_a_file_without_names(self):
        model, capture = (FIXTURES / "bert_micro" / name for name in ("model.onnx", "modules.json"))
        changed, out, sidecar = FIXTURES / "bert_micro" / "anonymous.onnx", self.folder / "out.onnx", self.folder / "s"
        said = self.succeed("carry", model, changed, "-m", capture, "-o", out, "--sidecar", sidecar).stdout
        self.assertIn("nodes kept", said)
        self.succeed("strip", out, "-o", self.folder / "stripped.onnx")
        self.assertEqual((self.folder / "stripped.onnx").read_bytes(), changed.read_bytes())
        nodes = json.loads(sidecar.read_text())["nodes"]
        truth = true_modules("bert_micro")
        wrong = [node["name"] for node in nodes
                 if node["name"] in truth and node["scope_module"] != truth[node["name"]]]
        self.assertLessEqual(len(wrong), len(nodes) // 20, wrong)
        self.assertEqual([node["name"] for node in nodes if not node["origins"]], [])
        for words in ((out,), (changed, "-m", model)):
            self.assertIn("came from", self.succeed("explain", *words, "#9").stdout)

    def test_of_another_model(self):
        model, other = (FIXTURES / name / "model.onnx" for name in ("mlp", "lstm_classifier"))
        self.fail_with(1, "carry", other, model, "-o", self.folder / "out.onnx", saying="is not the original of this model")
        self.assertFalse((self.folder / "out.onnx").exists())
        self.fail_with(2, "tag", model, "-m", other, "-m", model, saying="is a second original")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
