#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that divide and join models: cut, split, join.

usage: parts_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import shutil
import sys
import unittest

from hostile_test import field, graph, model, node, varint
from program_test import FIXTURES, Case, run

MICRO = FIXTURES / "bert_micro" if FIXTURES else None
DIALECTS = FIXTURES.parent / "dialects" if FIXTURES else None


class Cut(Case):
    def cut(self, *arguments, status=0):
        command = ["cut", MICRO / "model.onnx", "-m", MICRO / "modules.json", *arguments]
        return self.succeed(*command) if status == 0 else self.fail_with(status, *command)

    def test_a_module_and_the_nodes_in_it_are_the_same_part(self):
        module, nodes = self.folder / "module.onnx", self.folder / "nodes.onnx"
        self.cut("--module", "encoder.layer.0.attention", "-o", module)
        self.cut("--module", "encoder.layer.0.attention and op:*", "-o", nodes)
        self.assertEqual(self.names(module), self.names(nodes))
        self.assertGreater(len(self.names(module)), 20)

    def names(self, model):
        report = json.loads(self.succeed("query", model, "", "--format", "json").stdout)
        return [node["name"] for node in report["nodes"]]

    def test_a_query_for_nodes_is_a_part(self):
        part = self.folder / "part.onnx"
        self.cut("--module", "encoder.layer.0.attention.self.query and op:MatMul", "-o", part)
        self.assertEqual(len(self.names(part)), 1)

    def test_parts_of_a_tagged_model_are_valid_and_keep_their_tags(self):
        whole, again = self.folder / "whole.onnx", self.folder / "again.onnx"
        fixture = FIXTURES / "control_flow"
        for carriers in ("metadata,mark", "metadata", "model", "doc-string,mark", "attribute"):
            self.succeed("tag", fixture / "model.onnx", "-m", fixture / "modules.json", "-o", whole,
                         "--carrier", carriers)
            tags = self.tags(whole)
            for module in ("gate", "loop"):
                part = self.folder / f"{module}.onnx"
                self.succeed("cut", whole, "--module", module, "-o", part, "--force")
                self.succeed("validate", part, "--no-checker")
                part_tags = self.tags(part)
                self.assertEqual(part_tags, {name: tags[name] for name in part_tags}, carriers)
                self.succeed("tag", part, "-o", again)
                self.assertEqual(self.tags(again), part_tags, carriers)
                written = again.read_bytes()
                self.succeed("tag", again, "-o", again)
                self.assertEqual(again.read_bytes(), written, carriers)

    def tags(self, model):
        report = json.loads(self.succeed("query", model, "", "--format", "json").stdout)
        return {node["name"]: node["tag"] for node in report["nodes"]}

    def test_types_come_from_both_inferences_in_turn(self):
        # Only the ONNX library knows Det, only stemma the fused operators of ONNX Runtime.
        typed = field(2, field(1, field(1, 1) + field(2, b"".join(
            field(1, field(1, extent)) for extent in (2, 3, 3)))))
        first = [node("Det", ["x"], ["a"], "/enc/Det"),
                 node("QuickGelu", ["a"], ["b"], "/mid/QuickGelu") + field(7, "com.microsoft"),
                 node("Relu", ["b"], ["y"], "/dec/Relu")]
        second = [node("QuickGelu", ["x"], ["a"], "/enc/QuickGelu") + field(7, "com.microsoft"),
                  node("Det", ["a"], ["b"], "/mid/Det"), node("Relu", ["b"], ["y"], "/dec/Relu")]
        for nodes, module, name, unknown in ((first, "mid", "/mid/QuickGelu", "a"),
                                             (second, "dec", "/dec/Relu", "b")):
            whole = self.folder / "whole.onnx"
            whole.write_bytes(model(graph(nodes, inputs=()) + field(11, field(1, "x") + typed)) +
                              field(8, field(1, "com.microsoft") + field(2, 1)))
            findings = run("validate", whole, "--format", "json").stdout
            part = self.folder / "part.onnx"
            command = ["cut", whole, "--module", module, "-o", part]
            if "stemma-onnx" in findings:
                self.assertIn(f"type or rank of '{unknown}' is unknown", self.fail_with(1, *command))
            else:
                self.succeed(*command)
                self.assertEqual(self.names(part), [name])

    def test_modules_in_functions_are_cut_out_of_the_model_without_them(self):
        parts = self.folder / "parts"
        self.succeed("cut", DIALECTS / "modular_functions.onnx", "--all", "-d", parts, "--no-sync")
        cuts = json.loads((parts / "index.json").read_text())["cuts"]
        self.assertEqual({cut["status"] for cut in cuts}, {"written"})
        modules = [cut["module"] for cut in cuts]
        self.assertEqual(modules, sorted(modules, key=modules.index))
        query = next(cut for cut in cuts if cut["module"].endswith("layer.1.attention.self.query"))
        self.assertEqual(len(query["inputs"]), 1)  # with weights
        self.assertEqual([path.suffix for path in parts.iterdir()
                          if path.suffix not in (".onnx", ".json")], [])
        one = self.folder / "one.onnx"
        self.succeed("cut", DIALECTS / "modular_functions.onnx", "--module", query["module"], "-o",
                     one, "--no-sync")
        self.assertEqual(self.names(one), self.names(parts / query["file"]))
        self.assertEqual([path.name for path in self.folder.iterdir()
                          if path.name.endswith("inlined")], [])

    def test_parts_with_a_value_that_is_defined_twice_are_refused(self):
        nodes = [node("Relu", ["x"], ["v"], "/a/Relu"), node("Tanh", ["x"], ["v"], "/b/Tanh"),
                 node("Neg", ["v"], ["w"], "/c/Neg"), node("Abs", ["w"], ["y"], "/d/Abs")]
        whole = self.folder / "whole.onnx"
        whole.write_bytes(model(graph(nodes)))
        result = run("cut", whole, "--module", "c", "-o", self.folder / "c.onnx")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'v' is defined more than once, by node '/a/Relu' (#0) and node '/b/Tanh'",
                      result.stderr)
        self.assertIn("/b/Tanh", run("validate", whole).stdout)
        folded = run("fold", whole, "--least", "1", "-o", self.folder / "f.onnx")
        self.assertEqual(folded.returncode, 3)
        self.assertIn("node '/b/Tanh' (#1)", folded.stderr)

    def test_one_module_only(self):
        out = self.folder / "part.onnx"
        result = self.cut("--module", "encoder.layer.*", "-o", out, status=1)
        self.assertIn("matches 2 modules", result)
        self.assertFalse(out.exists())

    def test_usage(self):
        self.cut("--module", "encoder", status=2)
        self.cut("--all", status=2)
        self.cut("--all", "-d", self.folder / "parts", "--module", "encoder", status=2)
        self.cut("--module", "encoder", "-o", self.folder / "x", "-d", self.folder / "parts", status=2)

    def test_modules_that_are_named_go_to_a_folder(self):
        parts = self.folder / "parts"
        self.cut("--module", "encoder.layer.*", "-d", parts)
        cuts = json.loads((parts / "index.json").read_text())["cuts"]
        self.assertEqual([cut["module"] for cut in cuts], ["encoder.layer.0", "encoder.layer.1"])
        for cut in cuts:
            alone = self.folder / "alone.onnx"
            self.cut("--module", cut["module"], "-o", alone)
            self.assertEqual(self.names(alone), self.names(parts / cut["file"]))

    def test_files_are_the_same_for_any_number_of_threads(self):
        contents = []
        for threads in (1, 2, 5):
            parts = self.folder / "parts"
            result = self.cut("--all", "-d", parts, "--threads", threads)
            contents.append((result.stdout, {path.name: path.read_bytes() for path in parts.iterdir()}))
            shutil.rmtree(parts)
        self.assertGreater(len(contents[0][1]), 10)
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(contents[0], contents[2])

    def test_a_part_of_2_gib_has_its_weights_outside(self):
        count = 2 ** 29 + 16
        weight = field(1, count) + field(2, 1) + field(8, "w")
        raw = varint(9 << 3 | 2) + varint(4 * count)
        tensor = varint(5 << 3 | 2) + varint(len(weight + raw) + 4 * count) + weight + raw
        typed = field(1, field(1, 1) + field(2, field(1, field(1, 1))))
        nodes = graph([node("Add", ["x", "w"], ["v"], "/fc/Add"),
                       node("Relu", ["v"], ["y"], "/act/Relu")], (), ())
        ends = field(11, field(1, "x") + field(2, typed)) + field(12, field(1, "y") + field(2, typed))
        whole, part = self.folder / "large.onnx", self.folder / "part.onnx"
        head = model(b"")[:-2] + varint(7 << 3 | 2) + \
            varint(len(nodes + ends + tensor) + 4 * count) + nodes + ends + tensor
        with whole.open("wb") as file:
            file.write(head)
            file.truncate(len(head) + 4 * count - 3)
            file.seek(0, 2)
            file.write(b"end")
        self.succeed("cut", whole, "--module", "fc", "-o", part, "--no-sync")
        self.assertLess(part.stat().st_size, 1000)
        self.assertIn(b"part.onnx.data", part.read_bytes())
        with (self.folder / "part.onnx.data").open("rb") as file:
            file.seek(4 * count - 3)
            self.assertEqual(file.read(3), b"end")

    def test_existing_parts_are_replaced_only_when_forced(self):
        parts = self.folder / "parts"
        self.cut("--all", "-d", parts)
        before = sorted(path.name for path in parts.iterdir())
        self.cut("--all", "-d", parts, status=4)
        self.cut("--all", "-d", parts, "--force")
        self.assertEqual(before, sorted(path.name for path in parts.iterdir()))

    def test_parts_do_not_replace_what_is_read(self):
        whole = self.folder / "BertModel.onnx"
        content = (MICRO / "model.onnx").read_bytes()
        whole.write_bytes(content)
        command = ["cut", whole, "-m", MICRO / "modules.json", "--all", "-d", self.folder]
        for options in [], ["--force"]:
            self.fail_with(2, *command, *options, saying="BertModel.onnx: is an input")
        other = self.folder / "other.onnx"
        other.write_bytes(content)
        self.fail_with(2, "cut", other, "-m", MICRO / "modules.json", "-m", whole, "--all", "-d", self.folder,
                       "--force", saying="BertModel.onnx: is an input")
        self.assertEqual([whole.read_bytes(), other.read_bytes()], [content] * 2)
        self.assertEqual(len(list(self.folder.iterdir())), 2)


class Split(Case):
    def split(self, *arguments, status=0):
        command = ["split", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-d",
                   self.folder / "parts", *arguments]
        return self.succeed(*command) if status == 0 else self.fail_with(status, *command)

    def manifest(self):
        return json.loads((self.folder / "parts" / "split.json").read_text())

    def join(self):
        out = self.folder / "joined.onnx"
        self.succeed("join", self.folder / "parts", "-o", out)
        return out.read_bytes()

    def test_by_query_each_module_is_a_part(self):
        result = self.split("--module", "encoder.layer.*", "--module", "pooler", "--format", "json")
        self.assertEqual(json.loads(result.stdout), self.manifest())
        modules = [part["module"] for part in self.manifest()["parts"]]
        for module in ["encoder.layer.0", "encoder.layer.1", "pooler"]:
            self.assertEqual(modules.count(module), 1)
        self.assertEqual(self.join(), (MICRO / "model.onnx").read_bytes())

    def test_a_note_says_which_module_has_no_nodes(self):
        for module in ("embeddings.dropout", "embeddings.dropo*"):
            result = self.split("--force", "--module", "pooler", "--module", module)
            self.assertIn(f"'{module}' has no nodes in the main graph, and no part", result.stderr)

    def test_parts_are_called_after_their_modules_even_if_these_have_no_tags(self):
        self.split("--module", "encoder.layer")
        files = {part["module"]: part["file"] for part in self.manifest()["parts"]}
        self.assertTrue(files["encoder.layer"].endswith("-BertModel-BertEncoder-layer.onnx"), files)

    def test_parts_do_not_replace_what_is_read(self):
        self.split("--depth", "1")
        names = [part["file"] for part in self.manifest()["parts"]]
        place = self.folder / "place"
        place.mkdir()
        whole = place / names[0]
        content = (MICRO / "model.onnx").read_bytes()
        whole.write_bytes(content)
        self.fail_with(2, "split", whole, "-m", MICRO / "modules.json", "--depth", "1", "-d", place, "--force",
                       saying=f"{names[0]}: is an input")
        self.assertEqual(whole.read_bytes(), content)
        self.assertEqual(len(list(place.iterdir())), 1)

    def test_by_depth_and_merged(self):
        self.split("--depth", "1")
        divided = len(self.manifest()["parts"])
        self.split("--depth", "1", "--merge", "--force")
        self.assertLessEqual(len(self.manifest()["parts"]), divided)
        self.assertEqual(self.join(), (MICRO / "model.onnx").read_bytes())

    def test_into_parts_of_each_cost(self):
        for cost in ["bytes", "parameters", "operators"]:
            self.split("--parts", "4", "--cost", cost, "--force")
            self.assertEqual(len(self.manifest()["parts"]), 4)
            self.assertEqual(self.join(), (MICRO / "model.onnx").read_bytes())

    def test_costs_of_what_a_model_computes_are_those_that_analyze_counts(self):
        dims = ["--dim", "batch_size=2", "--dim", "sequence=9"]
        root = json.loads(self.succeed("analyze", MICRO / "model.onnx", "--cost", *dims, "--format",
                                       "json").stdout)["modules"][0]
        for cost in ["macs", "flops", "activations"]:
            done = self.split("--parts", "4", "--cost", cost, *dims, "--force")
            costs = [part["cost"] for part in self.manifest()["parts"]]
            self.assertEqual(sum(costs), root[cost])
            self.assertEqual(len(costs), 4)
            self.assertLess(max(costs), root[cost] * 0.6)
            self.assertNotIn("not fixed", done.stderr)
            self.assertEqual(self.join(), (MICRO / "model.onnx").read_bytes())
        done = self.split("--parts", "4", "--cost", "macs", "--force")
        self.assertIn("not fixed, taken as 64: batch_size,sequence\n", done.stderr)
        self.split("--parts", "4", *dims, "--force", status=2)
        self.split("--parts", "4", "--cost", "macs", "--dim", "width=3", "--force", status=2)

    def test_parameters_are_those_that_all_commands_count(self):
        def tensor(name, data_type, *extents):
            return b"".join(field(1, each) for each in extents) + field(2, data_type) + field(8, name)
        float32, int8, int32, int64 = 1, 3, 6, 7
        constant = node("Constant", [], ["c"]) + field(5, field(1, "value") + field(5, tensor(
            "", float32, 5, 6)) + field(20, 4))
        nodes = [node("DequantizeLinear", ["a.weight", "s", "z"], ["d"], "/a/DequantizeLinear"),
                 node("DequantizeLinear", ["a.bias", "s"], ["e"], "/a/DequantizeLinear_1"),
                 node("Gemm", ["x", "d", "e"], ["f"], "/a/Gemm"), constant,
                 node("MatMul", ["f", "c"], ["g"], "/b/MatMul"),
                 node("BatchNormalization", ["g", "n", "n", "m", "m"], ["h"], "/n/BatchNormalization"),
                 node("Gather", ["h", "i"], ["y"], "/n/Gather")]
        tensors = [tensor("a.weight", int8, 4, 5), tensor("a.bias", int32, 5), tensor("s", float32),
                   tensor("z", int8), tensor("n", float32, 6), tensor("m", float32, 6),
                   tensor("i", int64, 3)]
        whole = self.folder / "whole.onnx"
        extents = b"".join(field(1, field(1, extent)) for extent in (2, 4))
        typed = field(2, field(1, field(1, float32) + field(2, extents)))
        whole.write_bytes(model(graph(nodes, inputs=()) + field(11, field(1, "x") + typed) +
                                b"".join(field(5, each) for each in tensors)))
        parameters, size = 20 + 5 + 30 + 6, 20 + 4 * 5 + 4 * 30 + 4 * 6
        self.succeed("split", whole, "-d", self.folder / "parts", "--parts", "3", "--cost", "parameters")
        self.assertEqual(sum(part["cost"] for part in self.manifest()["parts"]), parameters)
        root = json.loads(self.succeed("tree", whole, "--format", "json").stdout)["modules"][0]
        self.assertEqual(root["parameter_count"], parameters)
        self.assertEqual(root["stored_parameter_count"], parameters)
        self.assertEqual(root["parameter_bytes"], size)
        kinds = {(each["kind"], each["type"]): each["elements"] for each in root["weights"]}
        self.assertEqual(kinds, {("parameter", "float32"): 36, ("parameter", "int8"): 20,
                                 ("parameter", "int32"): 5, ("buffer", "float32"): 6,
                                 ("scale", "float32"): 1, ("zero_point", "int8"): 1})
        self.assertIn(f"{parameters} parameters (float32 144 B, int8 20 B, int32 20 B)",
                      self.succeed("tree", whole).stdout)
        answer = json.loads(self.succeed("analyze", whole, "--format", "json").stdout)
        self.assertEqual(answer["analysis"]["modules"][0]["parameters"], parameters)
        self.assertEqual(answer["analysis"]["modules"][0]["bytes"], size)
        shown = self.folder / "bytes.json"
        self.succeed("export", whole, "--to", "model-explorer", "-o", self.folder / "model.json",
                     "--weight-bytes", shown)
        self.assertEqual(sum(one["value"] for one in json.loads(shown.read_text())["main"]["results"].values()),
                         size)

    def test_usage(self):
        self.split(status=2)
        self.split("--parts", "2", "--depth", "1", status=2)
        self.split("--parts", "100000", status=2)
        self.split("--module", "encodr", status=1)
        self.assertFalse((self.folder / "parts" / "split.json").exists())

    def test_existing_parts_are_replaced_only_when_forced(self):
        self.split("--parts", "2")
        self.split("--parts", "2", status=4)
        self.split("--parts", "2", "--force")

    def test_forced_parts_of_the_split_before_are_gone(self):
        model, parts = FIXTURES / "bert_micro/model.onnx", self.folder / "parts"
        self.succeed("split", model, "--parts", "4", "-d", parts)
        (parts / "mine.onnx").write_text("not a part")
        self.succeed("split", model, "--parts", "2", "-d", parts, "--force")
        manifest = json.loads((parts / "split.json").read_text())
        files = {part["file"] for part in manifest["parts"]} | {"mine.onnx", "skeleton.onnx"}
        self.assertEqual({path.name for path in parts.glob("*.onnx")}, files)

    def test_join_says_what_was_edited(self):
        self.split("--parts", "2")
        part = self.folder / "parts" / self.manifest()["parts"][1]["file"]
        part.write_bytes(part.read_bytes() + b"\x12\x01x")
        result = self.succeed("join", self.folder / "parts", "-o", self.folder / "joined.onnx")
        self.assertIn(f"changes in {part.name}", result.stdout)

    def test_join_of_what_is_no_split(self):
        out = self.folder / "joined.onnx"
        for broken in ["{}", "[", '{"schema": "stemma.split/1"}']:
            (self.folder / "split.json").write_text(broken)
            self.fail_with(3, "join", self.folder, "-o", out)
        self.fail_with(3, "join", self.folder / "missing", "-o", out)
        self.split("--parts", "2")
        part = self.folder / "parts" / self.manifest()["parts"][0]["file"]
        whole = part.read_bytes()
        part.write_bytes(whole[:len(whole) // 2])
        self.fail_with(3, "join", self.folder / "parts", "-o", out)
        part.unlink()
        self.fail_with(3, "join", self.folder / "parts", "-o", out)
        self.assertFalse(out.exists())

    def test_join_reads_nothing_outside_of_the_folder(self):
        self.split("--parts", "2")
        text = json.dumps(self.manifest()).replace("skeleton.onnx", "../skeleton.onnx")
        shutil.copy(self.folder / "parts" / "skeleton.onnx", self.folder)
        (self.folder / "parts" / "split.json").write_text(text)
        result = self.fail_with(3, "join", self.folder / "parts", "-o", self.folder / "out.onnx")
        self.assertIn("is not in the folder", result)


if __name__ == "__main__":
    sys.argv[1:] = sys.argv[3:]
    unittest.main()
