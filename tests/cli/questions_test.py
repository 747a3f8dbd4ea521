#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that answer questions about a model: query, validate, compare, analyze.

usage: questions_test.py PROGRAM FIXTURES [unittest arguments]
"""
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import unittest

from onnx_edits import Model
from program_test import FIXTURES, PROGRAM, Case, run

MICRO = FIXTURES / "bert_micro" if FIXTURES else None


class Query(Case):
    def ask(self, *arguments, fixture="bert_micro"):
        folder = FIXTURES / fixture
        return self.succeed("query", folder / "model.onnx", "-m", folder / "modules.json",
                            *arguments).stdout.splitlines()

    def everything(self, query, fixture="bert_micro"):
        return json.loads("\n".join(self.ask(query, "--format", "json", fixture=fixture)))

    def test_names_are_ready_for_a_list_of_nodes(self):
        names = self.ask("encoder.layer.0 and op:MatMul")
        everything = self.everything("encoder.layer.0 and op:MatMul")
        self.assertEqual(names, [node["name"] for node in everything["nodes"]])
        self.assertTrue(all(node["op_type"] == "MatMul" and
                            node["scope_module"].startswith("encoder.layer.0")
                            for node in everything["nodes"]))

    def test_nodes_without_a_name_are_positions_that_explain_takes(self):
        unnamed = FIXTURES / "control_flow" / "model.onnx"
        capture = ["-m", FIXTURES / "control_flow" / "modules.json"]
        everything = json.loads(self.succeed("query", unnamed, "", *capture, "--format",
                                             "json").stdout)
        places = self.succeed("query", unnamed, "", *capture, "--format", "indices").stdout
        places = places.splitlines()
        self.assertEqual(places, [f"{n['graph']}#{n['index']}" for n in everything["nodes"]])
        report = json.loads(self.succeed("explain", unnamed, *capture, *places, "--format",
                                         "json").stdout)
        for answer, node in zip(report["answers"], everything["nodes"]):
            self.assertEqual([n["name"] for n in answer["nodes"]], [node["name"]])

    def test_quantized_weights_are_those_of_the_operators_that_use_them(self):
        path = self.folder / "quantized.onnx"
        model = Model(MICRO / "model.onnx")
        weights = {one.text(8) for one in model.tensors}
        place = next(one for one in model.nodes
                     if one.op_type == "MatMul" and one.inputs[1] in weights)
        weight = place.inputs[1]
        model.quantize_weight(place, 1)
        model.write(path)
        asked = ["query", path, "weights:int8"]
        self.assertEqual(self.succeed(*asked).stdout.splitlines(), [place.name])
        self.assertEqual(self.succeed(*asked, "--list", "initializers").stdout.splitlines(),
                         [weight + "_quantized"])
        self.assertEqual(set(self.succeed("query", path, f"reads:'{weight}_quantized'").stdout.splitlines()),
                         {place.name, weight + "_DequantizeLinear"})

    def test_shared_weights_and_inputs_have_all_their_readers(self):
        for fixture, name, passed_on in (("shared_twice", "onnx::MatMul_74", 2), ("bert_micro", "input_ids", 0)):
            model = FIXTURES / fixture / "model.onnx"
            names = self.succeed("query", model, f"reads:'{name}'").stdout.splitlines()
            output = self.succeed("explain", model, name).stdout
            readers = re.findall(r"^  read by +(.*) \(#", output, re.MULTILINE)
            self.assertTrue(readers)
            self.assertLessEqual(set(readers), set(names))
            copies = [node for node in readers if node.startswith("Identity")]
            self.assertEqual(len(copies), passed_on)
            self.assertGreaterEqual(len(names), len(readers) + passed_on)

    def test_a_value_says_how_its_readers_are_found(self):
        model = MICRO / "model.onnx"
        self.fail_with(1, "query", model, "fed-by:input_ids",
                       saying="'input_ids' is an input: 'reads:input_ids' matches the nodes that read it")
        name = self.ask("op:Softmax", "--list", "values")[0]
        result = self.fail_with(1, "query", model, f"reads:{name}", saying="matches the nodes that read it")
        term = result.split("'fed-by:")[1].split("'")[0]
        self.assertEqual(len(self.succeed("query", model, f"fed-by:{term}").stdout.splitlines()), 1)

    def test_a_list_of_nothing_is_none(self):
        model = FIXTURES / "bert_micro/model.onnx"
        self.fail_with(1, "query", model, "op:Softmax", "--list", "initializers",
                       saying="the matching nodes read no initializers")
        self.assertEqual(self.ask("op:Softmax", "--list", "values"),
                         [f"/encoder/layer.{i}/attention/self/Softmax_output_0" for i in (0, 1)])

    def test_the_largest_modules_of_all_are_listed(self):
        largest = self.ask("", "--list", "modules", "--sort", "parameters", "--top", "3")
        self.assertEqual(largest, ["encoder", "encoder.layer", "encoder.layer.0"])
        for number in ("0", "-1"):
            self.fail_with(2, "query", MICRO / "model.onnx", "", "--top", number,
                           saying=f"'{number}' is not a positive integer")

    def test_a_query_and_its_negation_share_all_nodes_between_them(self):
        for query in ["class:BertLayer", "op:Add or from:consumer", "**[depth:2]",
                      "reads:**.weight"]:
            inside, outside = (
                {node["index"] for node in self.everything(each)["nodes"]}
                for each in (query, f"not ({query})"))
            self.assertEqual(inside & outside, set())
            self.assertEqual(len(inside | outside), 281)

    def test_types_of_nodes_stand_behind_their_domain(self):
        def nodes(model, query):
            return self.succeed("query", model, query, "--format", "indices").stdout.splitlines()
        called = FIXTURES / "shared_twice" / "model.functions.onnx"
        calls = nodes(called, "op:fixtures_models.shared::*")
        self.assertEqual(len(calls), 3)
        self.assertEqual(nodes(called, "op:ResidualMLP"), calls)
        self.assertEqual(nodes(called, "not op:ai.onnx::*"), calls)
        micro = MICRO / "model.onnx"
        self.assertEqual(nodes(micro, "op:ai.onnx::MatMul"), nodes(micro, "op:MatMul"))
        self.assertEqual(nodes(micro, "op:*::{MatMul,Add}"), nodes(micro, "op:{MatMul,Add}"))

    def test_every_module_is_found_by_its_path_and_by_its_tag(self):
        tree = json.loads(self.succeed("tree", MICRO / "model.onnx", "-m", MICRO / "modules.json",
                                       "--format", "json").stdout)
        for module in tree["modules"][::5]:
            queries = [f"'{module['path']}'"] + ([module["tag"]] if module["tag"] else [])
            for query in queries:
                self.assertEqual(self.ask(query, "--list", "modules"), [module["path"]])

    def test_values_and_initializers(self):
        self.assertEqual(self.ask("pooler.dense", "--list", "initializers"),
                         ["pooler.dense.weight", "pooler.dense.bias"])
        self.assertEqual(len(self.ask("pooler", "--list", "values")), 3)

    def test_nothing_found_names_what_is_like_it(self):
        said = self.fail_with(1, "query", MICRO / "model.onnx", "op:Add and encoder.layr.0")
        self.assertIn("column 12", said)
        self.assertIn("'encoder.layer.0'", said)

    def test_queries_that_cannot_be_read(self):
        for query, column in [("a and", 6), ("(a", 1), ("kind:a", 1), ("depth:x", 7)]:
            self.fail_with(2, "query", MICRO / "model.onnx", query, saying=f"column {column}:")
        self.fail_with(2, "query", MICRO / "model.onnx", "encoder", "--list", "values", "--format",
                       "indices", saying="no indices")

    def test_each_list_is_there_for_each_query(self):
        everything = self.everything("op:Softmax")
        self.assertEqual(self.ask("op:Softmax", "--list", "modules"),
                         [node["scope_module"] for node in everything["nodes"]])
        for query in ("op:Softmax", "encoder.layer.0", "type:int64", "parameters>1k", "rank:4"):
            for what in ("nodes", "modules", "values", "initializers"):
                listed = run("query", MICRO / "model.onnx", query, "--list", what, "-m", MICRO / "modules.json")
                self.assertEqual(listed.returncode, 0 if listed.stdout else 1, listed.stderr)
        self.assertEqual(self.ask("parameters>1k"), self.ask("parameters>1k", "--list", "modules"))

    def test_what_is_listed_can_be_sorted_and_cut(self):
        counts = {module["path"]: module["parameter_count"] for module in json.loads(self.succeed(
            "tree", MICRO / "model.onnx", "-m", MICRO / "modules.json", "--format", "json").stdout)["modules"]}
        largest = self.ask("parameters>0", "--sort", "parameters", "--top", "5")
        self.assertEqual(len(largest), 5)
        self.assertEqual([counts[path] for path in largest],
                         sorted((n for path, n in counts.items() if path), reverse=True)[:5])
        names = self.ask("op:MatMul", "--sort", "name")
        self.assertEqual(names, sorted(self.ask("op:MatMul")))
        self.fail_with(1, "query", MICRO / "model.onnx", "bytes>10MB", saying="column 1")

    def test_values_are_those_that_are_asked_for(self):
        wide = self.everything("bytes>4kB")
        said = json.loads(self.succeed("explain", MICRO / "model.onnx", *[v["name"] for v in wide["initializers"]],
                                       "--format", "json").stdout)
        for answer in said["answers"]:
            self.assertGreater(answer["values"][0]["weight"]["bytes"], 4000)

    def test_attributes_and_places_are_asked_for(self):
        resnet = FIXTURES / "resnet18/model.structure.onnx"
        halving = self.succeed("query", resnet, "op:Conv and attr:strides=[2,2]").stdout.splitlines()
        self.assertIn("/conv1/Conv", halving)
        self.assertLess(len(halving), len(self.succeed("query", resnet, "op:Conv").stdout.splitlines()))
        self.fail_with(1, "query", resnet, "attr:stride", saying="'strides'")
        behind = set(self.ask("after:encoder.layer.0"))
        before = set(self.ask("before:pooler"))
        self.assertEqual(behind & before - set(self.ask("pooler")),
                         set(self.ask("between:encoder.layer.0..pooler")))

    def test_wherever_a_module_is_named_a_query_works(self):
        model = MICRO / "model.onnx"
        shown = self.succeed("tree", model, "--module", "**.intermediate", "--format", "json")
        paths = [module["path"] for module in json.loads(shown.stdout)["modules"]]
        self.assertIn("encoder.layer.1.intermediate.dense", paths)
        self.assertNotIn("pooler", paths)
        self.fail_with(2, "tree", model, "--module", "op:Add", saying="asks about nodes")
        self.fail_with(1, "cut", model, "--module", "encodr", "-o", self.folder / "x.onnx",
                       saying="'encoder'")
        summary = json.loads(self.succeed("analyze", model, "--filter", "op:Softmax", "--format",
                                          "json").stdout)
        self.assertEqual(summary["nodes"], 2)


class Validate(Case):
    def findings(self, model, status, *more):
        result = run("validate", model, "--format", "json", *more)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return {one["code"] for one in json.loads(result.stdout)["findings"]}

    def test_exported_and_tagged_models_are_valid(self):
        for fixture in ["bert_micro", "control_flow", "shared_twice", "quirks"]:
            model = FIXTURES / fixture / "model.onnx"
            self.assertLessEqual(self.findings(model, 0), {"tags.none", "onnx.cannot_judge"})
            tagged = self.folder / f"{fixture}.onnx"
            self.succeed("tag", model, "-m", FIXTURES / fixture / "modules.json", "-o", tagged,
                         "--carrier", "metadata,attribute,doc-string,namespace,model")
            self.assertEqual(self.findings(tagged, 0, "--no-checker"), set())

    def test_a_damaged_graph_is_told_with_place_and_status(self):
        content = (FIXTURES / "mlp" / "model.onnx").read_bytes()
        name = b"/fc1/Gemm_output_0"
        broken = self.folder / "broken.onnx"
        broken.write_bytes(content.replace(name, name[:-1] + b"X", 1))
        self.assertIn("value.undefined", self.findings(broken, 1))
        said = run("validate", broken).stdout
        self.assertIn("error", said)
        self.assertIn("[value.undefined]", said)

    def test_an_onnx_library_that_fails_costs_its_answer_only(self):
        program = shutil.copy(PROGRAM, self.folder / "stemma")
        library = self.folder / "stemma-onnx"
        reasons = {
            "": "stemma-onnx is not beside this program",
            "kill -SEGV $$": "the onnx library crashed (Segmentation fault)",
            "exit 3": "stemma-onnx was built for another version of this program",
            "exit 9": "the onnx library exited without an answer",
        }
        for script, reason in reasons.items():
            if script:
                library.write_text(f"#!/bin/sh\n{script}\n")
                library.chmod(0o755)
            result = subprocess.run([program, "validate", MICRO / "model.onnx", "--format", "json"],
                                    capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""), script)
            texts = {one["code"]: one["text"] for one in json.loads(result.stdout)["findings"]}
            self.assertIn(reason, texts["onnx.cannot_judge"])

    def test_data_that_are_missing(self):
        model = FIXTURES / "bert_tiny" / "model.structure.onnx"
        self.assertIn("data.missing", self.findings(model, 1))
        self.assertEqual(self.findings(model, 0, "--no-data"), {"tags.none"})

    def test_a_graph_that_changed_and_a_damaged_record(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", FIXTURES / "mlp" / "model.onnx", "-o", tagged)
        content = tagged.read_bytes()
        changed = self.folder / "changed.onnx"
        changed.write_bytes(content.replace(b"\x22\x04Relu", b"\x22\x04Tanh"))
        self.assertEqual(self.findings(changed, 1), {"tags.stale"})
        damaged = self.folder / "damaged.onnx"
        damaged.write_bytes(content.replace(b'{"schema": "stemma.model/1"', b'{"schema": {stemma.model/1"'))
        self.assertEqual(self.findings(damaged, 1), {"tags.damaged"})

    def test_a_capture_must_be_the_one_of_the_file(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-o", tagged)
        self.assertEqual(self.findings(tagged, 0, "-m", MICRO / "modules.json"), set())
        other = FIXTURES / "mlp" / "modules.json"
        self.assertEqual(self.findings(tagged, 1, "-m", other), {"tags.other_tree"})
        self.assertEqual(self.findings(tagged, 0, "-m", tagged), set())
        self.assertEqual(self.findings(tagged, 1, "-m", MICRO / "model.onnx"), {"tags.other_tree"})

    def test_a_file_that_is_no_model(self):
        text = self.folder / "text.onnx"
        text.write_text("no model")
        self.fail_with(3, "validate", text)
        self.fail_with(3, "validate", self.folder / "missing.onnx")


class Compare(Case):
    def compare(self, first, second, status, *more):
        result = run("compare", first, second, "--format", "json", *more)
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def test_a_model_is_equal_to_itself(self):
        for fixture in ["bert_micro", "control_flow", "bert_tiny"]:
            model = FIXTURES / fixture / ("model.onnx" if fixture != "bert_tiny"
                                          else "unnamed.onnx")
            copy = self.folder / "copy.onnx"
            shutil.copy(model, copy)
            result = self.compare(model, copy, 0, "--only", "structure,tags")
            self.assertTrue(result["equal"])
            self.assertNotIn("initializers", result)

    def test_a_tagged_model_has_the_graph_and_weights_of_the_original(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-o", tagged)
        self.compare(MICRO / "model.onnx", tagged, 0, "--only", "structure,initializers")
        result = self.compare(MICRO / "model.onnx", tagged, 1, "--only", "tags")
        self.assertEqual(result["tags"]["same"] + sum(m["nodes"] for m in result["tags"]["moved"]), 281)
        self.compare(MICRO / "model.onnx", tagged, 0, "-m", MICRO / "modules.json")

    def test_the_first_difference_is_shown_with_what_is_around_it(self):
        result = self.compare(MICRO / "model.onnx", MICRO / "model.nofold.onnx", 1)
        difference = result["structure"]["difference"]
        self.assertNotEqual(difference["first"]["op_type"], difference["second"]["op_type"])
        said = run("compare", MICRO / "model.onnx", MICRO / "model.nofold.onnx").stdout
        self.assertIn(f"> {difference['first']['op_type']} node", said)
        self.assertIn(f"> {difference['second']['op_type']} node", said)

    def test_names_alone_make_no_other_graph(self):
        result = self.compare(MICRO / "model.onnx", MICRO / "anonymous.onnx", 1, "--only",
                              "structure,initializers")
        self.assertTrue(result["structure"]["equal"])
        self.assertEqual({one["change"] for one in result["initializers"]["differences"]}, {"renamed"})

    def test_a_changed_weight_is_found(self):
        content = (FIXTURES / "mlp" / "model.onnx").read_bytes()
        at = content.index(b"fc1.biasJ") + len(b"fc1.biasJ") + 1  # raw data after its length
        changed = self.folder / "changed.onnx"
        changed.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1:])
        result = self.compare(FIXTURES / "mlp" / "model.onnx", changed, 1)
        self.assertTrue(result["structure"]["equal"])
        self.assertTrue(result["tags"]["equal"])
        self.assertEqual([(one["change"], one["name"])
                          for one in result["initializers"]["differences"]],
                         [("changed", "fc1.bias")])

    def test_bad_input(self):
        self.fail_with(3, "compare", MICRO / "model.onnx", self.folder / "missing.onnx")
        self.assertEqual(run("compare", MICRO / "model.onnx").returncode, 2)


class Analyze(Case):
    def test_tables_stay_within_100_columns(self):
        for fixture in ["bert_micro_12l", "shared_twice", "control_flow", "quirks"]:
            folder = FIXTURES / fixture
            said = self.succeed("analyze", folder / "model.onnx", "-m", folder / "modules.json",
                                "--rows", "1000").stdout
            for line in said.splitlines():
                if not line.startswith("model "):
                    self.assertLessEqual(len(line), 100, line)

    def test_csv_says_what_json_says(self):
        arguments = ["analyze", MICRO / "model.onnx", "-m", MICRO / "modules.json"]
        answer = json.loads(self.succeed(*arguments, "--format", "json").stdout)
        rows = {}
        for table in ["tags", "modules", "operators"]:
            text = self.succeed(*arguments, "--format", "csv", "--table", table).stdout
            rows[table] = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual({row["tag"]: int(row["nodes"]) for row in rows["tags"]}, answer["tags"])
        self.assertEqual([row["module"] for row in rows["modules"]],
                         [module["path"] for module in answer["analysis"]["modules"]])
        for module, row in zip(answer["analysis"]["modules"], rows["modules"]):
            self.assertEqual(int(row["bytes"]), module["bytes"])
        self.assertEqual(sum(int(row["nodes"]) for row in rows["operators"] if not row["module"]),
                         answer["nodes"])

    def test_what_a_filter_leaves_adds_up(self):
        model = MICRO / "model.onnx"
        whole, some, others = (
            json.loads(self.succeed("analyze", model, "--format", "json", *arguments).stdout)
            for arguments in ([], ["--filter", "encoder"], ["--filter", "not encoder"]))
        self.assertEqual(some["nodes"] + others["nodes"], whole["nodes"])
        for key in whole["provenance"]:
            self.assertEqual(some["provenance"].get(key, 0) + others["provenance"].get(key, 0),
                             whole["provenance"][key])
        self.assertEqual([a + b for a, b in zip(some["analysis"]["confidence"],
                                                others["analysis"]["confidence"])],
                         whole["analysis"]["confidence"])

    def test_unknown_classes_are_null_everywhere(self):
        model = MICRO / "model.onnx"
        for command, find in ((("tree", model), lambda document: document["modules"]),
                              (("explain", model, "encoder"), lambda document: document["answers"][0]["modules"]),
                              (("analyze", model, "--cost"), lambda document: document["modules"])):
            answer = json.loads(self.succeed(*command, "--format", "json").stdout)
            self.assertEqual({one["class"] for one in find(answer)}, {None}, command)

    def test_what_is_not_about_the_filtered_nodes_says_so(self):
        model = MICRO / "model.onnx"
        whole = self.succeed("analyze", model).stdout
        some = self.succeed("analyze", model, "--filter", "op:Softmax").stdout
        self.assertEqual(next(line for line in some.splitlines() if line.startswith("model ")),
                         next(line for line in whole.splitlines() if line.startswith("model ")))
        self.assertIn("op:Softmax: 2 of 281 nodes", some)
        self.assertIn("tagged       2 of 2 nodes", some)
        self.assertIn("weights      of the whole model: parameter", some)
        self.assertIn("the modules with these nodes, as a whole", some)
        self.assertNotIn("whole", whole)

    def test_modules_that_run_twice_are_told_with_the_way(self):
        folder = FIXTURES / "shared_twice"
        answer = json.loads(self.succeed("analyze", folder / "model.onnx", "-m",
                                         folder / "modules.json", "--format", "json").stdout)
        ways = {one["module"]: one["witness"] for one in answer["analysis"]["non_convex"]}
        self.assertIn("block", ways)
        self.succeed("explain", folder / "model.onnx", *ways["block"])

    def test_a_model_without_any_hierarchy_gives_a_report(self):
        for command in ("analyze", "tree"):
            result = self.succeed(command, MICRO / "anonymous.onnx")
            self.assertIn("281 nodes", result.stdout)
            self.assertIn("nothing in it names a module", result.stderr)
            if command == "analyze":
                self.assertIn("0 of 281 nodes (0.0 %)", result.stdout)
                self.assertIn("known only to be in or below\n      281  the root", result.stdout)
            named = self.succeed(command, MICRO / "model.onnx")
            self.assertNotIn("names a module", named.stderr)

    def test_all_is_said_of_all_only(self):
        truth = self.succeed("analyze", FIXTURES / "scale_1000" / "model.onnx", "--propagate", "off")
        for line in truth.stdout.splitlines():
            if line.startswith("tagged"):
                tagged, total = [int(word.replace(",", "")) for word in line.split()[1:4:2]]
                self.assertEqual("(100.0 %)" in line, tagged == total, line)


class Explain(Case):
    model = [FIXTURES / "bert_micro/model.onnx", "-m", FIXTURES / "bert_micro/modules.json"] if FIXTURES else []

    def test_a_module_is_what_the_tree_and_the_cut_say(self):
        for path in ("encoder.layer.0", "pooler.dense", "embeddings"):
            said = json.loads(self.succeed("explain", *self.model, path, "--format", "json").stdout)
            module = said["answers"][0]["modules"][0]
            tree = {each["path"]: each for each in json.loads(
                self.succeed("tree", *self.model, "--format", "json").stdout)["modules"]}
            for key in ("class", "nodes", "own_nodes", "parameter_count", "parameter_bytes"):
                self.assertEqual(module[key], tree[path][key], key)
            part = self.folder / f"{path}.onnx"
            record = json.loads(self.succeed("cut", *self.model, "--module", path, "-o", part,
                                             "--format", "json").stdout)["cuts"][0]
            self.assertEqual(sorted(each["name"] for each in module["inputs"]),
                             sorted(record["inputs"]))
            self.assertEqual(sorted(each["name"] for each in module["outputs"]),
                             sorted(record["outputs"]))
            self.assertIn(path, self.succeed("explain", *self.model, path).stdout)

    def test_several_things_are_explained_at_once(self):
        text = self.succeed("explain", *self.model, "#7", "pooler", "input_ids").stdout
        for part in ("(#7)", "\npooler", "\ninput_ids"):
            self.assertIn(part, text)

    def test_positions_that_are_not_there(self):
        self.fail_with(1, "explain", *self.model, "#99999", saying="281 nodes, #0 to #280")
        self.fail_with(1, "explain", *self.model, "7", saying="'#7'")
        self.fail_with(1, "explain", *self.model, "encoder.layr.0", saying="'encoder.layer.0'")


class Tree(Case):
    model = Explain.model

    def test_layers_that_are_alike_share_a_line(self):
        text = self.succeed("tree", *self.model).stdout
        self.assertRegex(text, r"0-1 BertLayer .* 109 .*2 x 109 nodes, alike")
        everything = self.succeed("tree", *self.model, "--all").stdout
        self.assertNotIn("alike", everything)
        self.assertEqual(len(everything.splitlines()), 48 + 2)
        self.assertLess(len(text.splitlines()), 40)

    def test_layers_of_which_other_parts_are_asked_for_keep_their_lines(self):
        text = self.succeed("tree", *self.model, "--module",
                            "encoder.layer.0.attention or encoder.layer.1.output").stdout
        self.assertRegex(text, r"├─ 0 BertLayer.*\n.*attention BertAttention")
        self.assertRegex(text, r"└─ 1 BertLayer.*\n.*output BertOutput")

    def test_layers_in_another_order_keep_their_lines(self):
        capture = json.loads((MICRO / "modules.json").read_text())
        layers = next(module for module in capture["modules"] if module["name"] == "encoder.layer")
        layers["children"].reverse()
        below = [module for module in capture["modules"] if module["name"].startswith("encoder.layer.0")]
        capture["modules"] = [module for module in capture["modules"] if module not in below] + below
        reversed_layers = self.folder / "reversed.json"
        reversed_layers.write_text(json.dumps(capture))
        text = self.succeed("tree", MICRO / "model.onnx", "-m", reversed_layers).stdout
        self.assertRegex(text, r"─ 1 BertLayer")
        self.assertNotRegex(text, r"1-0")

    def test_columns_and_order_are_chosen(self):
        text = self.succeed("tree", *self.model, "--columns", "bytes,own", "--sort", "bytes", "--depth", "1").stdout
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^module +bytes +own$")
        self.assertIn("encoder", lines[2])
        self.assertEqual(run("tree", *self.model, "--columns", "colour").returncode, 2)

    def test_a_model_alone_is_its_tree(self):
        self.assertEqual(self.succeed(*self.model).stdout, self.succeed("tree", *self.model).stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
