#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that turn modules into functions and back: fold, unfold.

usage: folding_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import sys
import unittest

from onnx_edits import Message
from program_test import FIXTURES, Case, run

MICRO = FIXTURES / "bert_micro" if FIXTURES else None
DIALECTS = FIXTURES.parent / "dialects" if FIXTURES else None
LIGHT = ["--no-sync"]


class Fold(Case):
    def fold(self, *arguments, fixture=MICRO, name="model.onnx"):
        self.folded = self.folder / "folded.onnx"
        result = self.succeed("fold", fixture / name, "-m", fixture / "modules.json", "-o",
                              self.folded, "--format", "json", *LIGHT, *arguments).stdout
        return json.loads(result)

    def unfold(self, folded):
        back = self.folder / "back.onnx"
        self.succeed("unfold", folded, "-o", back, *LIGHT)
        return back.read_bytes()

    def test_layers_share_functions_and_come_back(self):
        result = self.fold()
        calls = {f["name"]: f["calls"] for f in result["functions"]}
        self.assertEqual(calls["BertLayer"], 2)
        self.assertEqual(calls["BertEncoder"], 1)
        self.assertEqual(len(result["calls"]), sum(calls.values()))
        self.assertLess(result["folded_bytes"], result["bytes"])
        self.assertEqual(self.folded.stat().st_size, result["folded_bytes"])
        self.assertEqual(self.unfold(self.folded), (MICRO / "model.onnx").read_bytes())

    def test_calls_lie_inside_each_other_as_modules_do(self):
        calls = self.fold()["calls"]
        for call in calls:
            if call["inside"] is not None:
                around = calls[call["inside"]]["module"]
                self.assertTrue(call["module"].startswith(around + "."))

    def test_modules_in_bodies_fold_where_they_stand(self):
        source = FIXTURES / "control_flow" / "model.onnx"
        folded = self.folder / "folded.onnx"

        def fold(*arguments):
            answer = json.loads(self.succeed("fold", source, "-o", folded, "--format", "json",
                                             *LIGHT, *arguments).stdout)
            self.assertEqual(self.unfold(folded), source.read_bytes())
            self.assertEqual(answer["in_bodies"], 0)
            return {call["module"]: call for call in answer["calls"]}

        calls = fold()
        self.assertEqual(calls["gate"]["graph"], "")
        for branch in ("positive", "negative"):
            call = calls["gate." + branch]
            self.assertIn("_branch", call["graph"])
            self.assertEqual(list(calls)[call["inside"]], "gate")
        alone = fold("--module", "gate.positive")
        self.assertEqual(list(alone), ["gate.positive"])
        self.assertIsNone(alone["gate.positive"]["inside"])

    def test_a_query_a_depth_and_a_size_say_what_folds(self):
        modules = {call["module"] for call in self.fold("--module", "encoder.layer.*")["calls"]}
        self.assertIn("encoder.layer.1.attention.self", modules)
        self.assertTrue(all(m.startswith("encoder.layer.") for m in modules))
        named = self.fold("--module", "encoder.layer.*", "--depth", "3")["calls"]
        self.assertEqual([call["module"] for call in named],
                         ["encoder.layer.0", "encoder.layer.1"])
        alone = self.fold("--module", "pooler.dense", "--least", "1")["calls"]
        self.assertEqual([call["module"] for call in alone], ["pooler.dense"])
        large = self.fold("--least", "20")
        self.assertTrue(all(call["nodes"] >= 20 for call in large["calls"]))
        self.assertIn("too_small", {row["reason"] for row in large["left"]})

    def test_the_text_shows_the_functions_as_a_tree(self):
        shown = self.succeed("fold", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-o",
                             self.folder / "f.onnx", *LIGHT).stdout
        self.assertIn("\n    2 x BertLayer ", shown)
        self.assertIn("\n        1 x BertSelfAttention ", shown)

    def test_every_call_of_a_shared_module_is_one(self):
        result = self.fold(fixture=FIXTURES / "two_tower")
        siamese = [c for c in result["calls"] if c["inside"] is None]
        self.assertEqual({c["function"].split("::")[1] for c in siamese}, {"Tower"})
        self.assertEqual(len(siamese), 4)
        self.assertEqual({c["call"] for c in siamese}, {0, 1})

    def test_tagging_and_stripping_leave_a_folded_file_what_it_is(self):
        self.fold()
        tagged, stripped = self.folder / "tagged.onnx", self.folder / "stripped.onnx"
        self.succeed("tag", self.folded, "-o", tagged)
        self.succeed("strip", tagged, "-o", stripped)
        self.assertEqual(stripped.read_bytes(), self.folded.read_bytes())
        self.assertEqual(self.unfold(tagged), (MICRO / "model.onnx").read_bytes())

    def test_a_tagged_model_folds_as_the_one_without_tags(self):
        tagged, folded = self.folder / "tagged.onnx", self.folder / "other.onnx"
        self.succeed("tag", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-o", tagged)
        result = self.succeed("fold", tagged, "-o", folded, *LIGHT)
        self.assertIn("tags are kept for unfolding", result.stderr)
        self.fold()
        data = self.folded.read_bytes()
        self.assertEqual(folded.read_bytes()[:len(data)], data)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["folded.onnx", "other.onnx", "tagged.onnx"])

    def test_tags_of_every_kind_come_back(self):
        for carrier in ("metadata", "mark", "attribute", "doc-string", "namespace", "model",
                        "metadata,doc-string"):
            for fixture in ("bert_micro", "two_tower", "quirks"):
                with self.subTest(carrier=carrier, fixture=fixture):
                    tagged, folded = self.folder / "tagged.onnx", self.folder / "folded.onnx"
                    self.succeed("tag", FIXTURES / fixture / "model.onnx", "-m",
                                 FIXTURES / fixture / "modules.json", "--carrier", carrier, "-o",
                                 tagged, "--force", *LIGHT)
                    self.succeed("fold", tagged, "-o", folded, *LIGHT)
                    back = self.unfold(folded)
                    self.assertEqual(back, tagged.read_bytes())
                    again = self.folder / "again.onnx"  # regardless of tags in the folded file
                    self.succeed("tag", folded, "-o", again, *LIGHT)
                    self.assertEqual(self.unfold(again), back)

    def test_a_tagged_model_that_was_changed_loses_its_tags_only(self):
        tagged, folded = self.folder / "tagged.onnx", self.folder / "folded.onnx"
        self.succeed("tag", MICRO / "model.onnx", "-o", tagged)
        self.succeed("fold", tagged, "-o", folded, *LIGHT)
        entry = b"\x72\x08\x0a\x03key\x12\x01v"  # metadata of the model, added by others
        folded.write_bytes(folded.read_bytes() + entry)
        out = self.folder / "out.onnx"
        result = self.succeed("unfold", folded, "-o", out, *LIGHT)
        self.assertIn("tags were removed", result.stderr)
        self.assertEqual(out.read_bytes(), (MICRO / "model.onnx").read_bytes() + entry)

    def test_a_change_that_keeps_the_size_is_noticed_too(self):
        tagged, folded = self.folder / "tagged.onnx", self.folder / "folded.onnx"
        self.succeed("tag", MICRO / "model.onnx", "-o", tagged, *LIGHT)
        self.succeed("fold", tagged, "-o", folded, *LIGHT)

        def renamed(path):  # a letter moves from the graph's name to the producer's
            model = Message(path.read_bytes())
            graph = Message(model.all(7)[0])
            name, producer = graph.text(2), model.text(2)
            graph.fields = [(n, kind, name[:-1].encode() if n == 2 else value)
                            for n, kind, value in graph.fields]
            model.fields = [(n, kind, {2: producer.encode() + b"x", 7: graph.bytes()}.get(n, value))
                            for n, kind, value in model.fields]
            return model.bytes()

        changed, out = renamed(folded), self.folder / "out.onnx"
        self.assertEqual(len(changed), folded.stat().st_size)
        folded.write_bytes(changed)
        result = self.succeed("unfold", folded, "-o", out, *LIGHT)
        self.assertIn("tags were removed", result.stderr)
        self.assertEqual(out.read_bytes(), renamed(MICRO / "model.onnx"))

    def test_bodies_that_differ_in_constants_share_when_asked_to(self):
        gpt = FIXTURES / "gpt2_tiny"
        apart = self.fold("--select", "all", fixture=gpt)["functions"]
        together = self.fold("--select", "all", "--constants", "attributes",
                             fixture=gpt)["functions"]
        self.assertLess(len(together), len(apart))
        self.assertEqual({f["attributes"] for f in apart}, {0})
        self.assertEqual(sum(f["calls"] for f in together), sum(f["calls"] for f in apart))
        self.assertGreater(sum(f["attributes"] for f in together), 0)
        self.assertEqual(self.unfold(self.folded), (gpt / "model.onnx").read_bytes())

    def test_refusals(self):
        self.fold()
        out = self.folder / "out.onnx"
        again = run("fold", self.folded, "-o", out)
        self.assertEqual(again.returncode, 2)
        self.assertIn("already folded", again.stderr)
        nothing = run("fold", FIXTURES / "mlp" / "model.onnx", "-o", out)
        self.assertEqual(nothing.returncode, 1)
        self.assertEqual(run("fold", MICRO / "model.onnx", "--module", "nowhere", "-o",
                             out).returncode, 1)
        self.assertEqual(run("fold", MICRO / "model.onnx").returncode, 2)
        self.assertFalse(out.exists())

    def test_old_versions_are_lifted_or_refused(self):
        old = self.folder / "old.onnx"
        data = (MICRO / "model.onnx").read_bytes()
        self.assertEqual(data[:2], b"\x08\x08")
        old.write_bytes(b"\x08\x07" + data[2:])
        out = self.folder / "out.onnx"
        refused = run("fold", old, "-o", out, "--old-versions", "refuse")
        self.assertEqual(refused.returncode, 2)
        self.assertFalse(out.exists())
        lifted = self.succeed("fold", old, "-o", out, *LIGHT)
        self.assertIn("IR version 7 is raised to 8", lifted.stderr)
        self.assertEqual(out.read_bytes()[:2], b"\x08\x08")
        self.assertEqual(self.unfold(out), old.read_bytes())


class Unfold(Case):
    def test_a_damaged_record_is_bad_input(self):
        folded, out = self.folder / "folded.onnx", self.folder / "out.onnx"
        self.succeed("fold", MICRO / "model.onnx", "-o", folded, *LIGHT)
        data = folded.read_bytes()
        damaged = self.folder / "damaged.onnx"
        damaged.write_bytes(data.replace(b'"nodes": 281', b'"nodes": 2x1'))
        result = run("unfold", damaged, "-o", out)
        self.assertEqual(result.returncode, 3)
        self.assertIn("damaged.onnx", result.stderr)
        self.assertFalse(out.exists())

    def test_a_file_that_was_changed_since_is_opened_call_by_call(self):
        folded, out = self.folder / "folded.onnx", self.folder / "out.onnx"
        self.succeed("fold", MICRO / "model.onnx", "-o", folded, *LIGHT)
        folded.write_bytes(folded.read_bytes().replace(b'"nodes": 281', b'"nodes": 282'))
        result = self.succeed("unfold", folded, "-o", out, *LIGHT)
        self.assertIn("changed since", result.stderr)
        self.assertEqual(run("unfold", out, "-o", folded).returncode, 1)  # no functions any more

    def test_functions_of_others_are_put_in(self):
        out = self.folder / "out.onnx"
        result = self.succeed("unfold", MICRO / "model.functions.onnx", "-o", out, *LIGHT)
        self.assertIn("calls inlined", result.stdout)
        names = self.succeed("query", out, "op:MatMul").stdout
        self.assertIn("/MatMul", names)
        self.succeed("validate", out, "--quiet")

    def test_without_functions_a_model_has_the_modules_that_it_had(self):
        source, out = DIALECTS / "modular_functions.onnx", self.folder / "out.onnx"
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", source, "-o", tagged, *LIGHT)
        before = self.paths(source)
        self.assertIn("encoder.layer.1.attention.self.query", before)
        for model in (source, tagged):
            self.succeed("unfold", model, "-o", out, *LIGHT)
            self.assertEqual(self.paths(out), before)
            names = self.succeed("query", out, "encoder.layer.1.attention.self.query").stdout
            self.assertEqual(sum("Gemm" in line for line in names.splitlines()), 1)
        self.succeed("unfold", source, "-o", out, "--as-called", *LIGHT)
        self.assertIn("aten", self.succeed("query", out, "op:Gemm").stdout)

    def paths(self, model):
        tree = json.loads(self.succeed("tree", model, "--format", "json").stdout)
        return [module["path"] for module in tree["modules"]]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
