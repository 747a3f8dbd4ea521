#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the program on models of all dialects: compared with an oracle, and with damaged evidence.

usage: evidence_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import sys
import unittest

from onnx_edits import Message, Model, Node
from program_test import FIXTURES, Case, run

DIALECTS = FIXTURES.parent / "dialects" if FIXTURES else None
KINDS = ("exact", "ancestor", "descendant", "contaminated", "missing")


class Oracle(Case):
    def report(self, command, *arguments):
        return json.loads(self.succeed(command, *arguments, "--format", "json").stdout)

    def test_every_node_with_a_truth_is_counted_once_overall_and_in_its_module(self):
        for folder in sorted(FIXTURES.iterdir()):
            if not (folder / "truth.json").exists():
                continue
            truth = json.loads((folder / "truth.json").read_text())["nodes"]
            of_node = {n["opaque"]: next((n[k] for k in ("module", "known_module", "inferred_module")
                                          if isinstance(n.get(k), str)), None) for n in truth}
            modules = {}
            for module in of_node.values():
                if module is not None:
                    modules[module] = modules.get(module, 0) + 1
            for capture in ([], ["-m", folder / "modules.json"]):
                report = self.report("analyze", folder / "unnamed.onnx", *capture, "--oracle",
                                     folder / "truth.json")
                self.assertEqual(sum(report[k] for k in KINDS), sum(modules.values()), folder)
                self.assertEqual({m: sum(counts[k] for k in KINDS)
                                  for m, counts in report["oracle_modules"].items()}, modules)
                for kind in KINDS:
                    self.assertEqual(sum(c[kind] for c in report["oracle_modules"].values()),
                                     report[kind])

    def test_tag_and_analyze_say_the_same_in_numbers_and_in_words(self):
        folder = FIXTURES / "control_flow"
        arguments = [folder / "model.onnx", "--oracle", folder / "truth.json"]
        numbers = [self.report(command, *arguments) for command in ("tag", "analyze")]
        for kind in (*KINDS, "oracle_modules"):
            self.assertEqual(numbers[0][kind], numbers[1][kind])
        for command in ("tag", "analyze"):
            text = self.succeed(command, *arguments).stdout
            for kind in KINDS[:4]:
                self.assertIn(f"{kind} {numbers[0][kind]}", text)

    def test_what_is_left_without_a_module_is_missing(self):
        folder = FIXTURES / "bert_micro"
        report = self.report("tag", folder / "anonymous.onnx", "--propagate", "off", "--sources",
                             "scope", "--oracle", folder / "truth.json")
        self.assertEqual(report["missing"], 281)
        self.assertEqual(sum(report[k] for k in KINDS[:4]), 0)

    def test_a_source_that_does_not_count_can_be_the_truth_for_the_others(self):
        # Names attribute calls of functions to the functions, whose bodies have no metadata.
        model = DIALECTS / "builder.onnx"
        for oracle, sources, least in (("metadata", "scope,function", 40),
                                       ("scope", "metadata", 37)):
            report = self.report("tag", model, "--sources", sources, "--oracle", oracle)
            self.assertNotIn(oracle, report["provenance"])
            self.assertEqual([report[k] for k in KINDS], [least, 0, 0, 0, 0])
        # A source compared with itself has no differences; one without evidence, nothing to compare.
        folder = FIXTURES / "shared_twice"
        for oracle, least in (("scope", 51), ("metadata", 0)):
            report = self.report("tag", folder / "model.onnx", "--oracle", oracle)
            self.assertEqual([report[k] for k in KINDS], [least, 0, 0, 0, 0])

    def test_an_oracle_that_cannot_be_one(self):
        model = FIXTURES / "mlp" / "model.onnx"
        self.fail_with(3, "tag", model, "--oracle", self.folder / "none.json", saying="No such file")
        self.fail_with(3, "tag", model, "--oracle", FIXTURES / "bert_micro" / "truth.json",
                       saying="names no node of")
        self.fail_with(2, "tag", model, "--oracle", "consumer", saying="not a source")
        damaged = self.folder / "truth.json"
        damaged.write_text('{"nodes": [')
        self.fail_with(3, "analyze", model, "--oracle", damaged, saying="truth.json")


class Dialects(Case):
    def test_what_is_found_is_said(self):
        for name, dialect, share in (("dynamo", "dynamo", 0.85), ("builder", "builder", 0.95),
                                     ("dynamo_strict", "dynamo", 0.85), ("rewritten", "dynamo", 0.6),
                                     ("typed", "torchscript", 1),
                                     ("shared_embedding", "torchscript", 1)):
            report = json.loads(self.succeed("analyze", DIALECTS / f"{name}.onnx", "--format",
                                             "json").stdout)
            self.assertGreaterEqual(report["dialects"][dialect], share * report["nodes"], name)
            quality = report["scope_quality"]
            self.assertEqual(sum(quality.values()), report["nodes"], name)
            full = "path" if name == "shared_embedding" else "full"
            self.assertGreaterEqual(quality[full], share * report["nodes"], name)

    def test_metadata_that_cannot_be_read_is_said_and_left_out(self):
        whole = (DIALECTS / "builder.onnx").read_bytes()
        damaged = self.folder / "damaged.onnx"
        # Truncates the first list but keeps its length.
        place = whole.index(b"', 'k_proj']")
        damaged.write_bytes(whole[:place] + b"', 'k_proj' " + whole[place + 12:])
        result = run("tag", damaged, "--oracle", DIALECTS / "builder.truth.json", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("name_scopes is not a list of strings", result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["provenance"]["metadata"], 39)
        self.assertEqual(report["exact"], 40)  # also in the name


class NamesThatNoModelHas(Case):
    def model(self, name, weight="w", metadata=None):
        sys.path.insert(0, str(FIXTURES.parent))
        import make_dialects as write
        node = write.call("Add", ["x", weight], ["y"], "NAME", metadata=metadata)
        graph = (write.text(1, node) +
                 write.text(1, write.call("Relu", ["y"], ["z"], "/out/Relu")) +
                 write.text(2, "g") + write.text(5, write.tensor(weight, [4])) +
                 write.text(11, write.value_info("x")) + write.text(12, write.value_info("z")))
        named = node.replace(write.text(3, "NAME"), write.text(3, name))
        graph = graph.replace(write.text(1, node), write.text(1, named))
        path = self.folder / "model.onnx"
        path.write_bytes(write.number(1, 10) + write.text(7, graph) +
                         write.text(8, write.opset("", 18)))
        return path

    def test_the_node_falls_to_its_parameter_and_the_program_says_so(self):
        for name, saying in (("/" + "/".join(f"m{i}" for i in range(10000)) + "/Add", "levels"),
                             ("/" + "x" * (1 << 20) + "/Add", "long"),
                             (b"/enc\xff/Add", "UTF-8"),
                             ("app.Net::/app/odd.Block::enc/Add", "class")):
            model = self.model(name, "dec.fc.weight")
            for command in ("tag", "tree", "analyze"):
                result = run(command, model, "--format", "json")
                self.assertEqual(result.returncode, 0, result.stderr[:500])
                self.assertIn(saying, result.stderr)
                report = json.loads(result.stdout)
            self.assertEqual(report["provenance"], {"parameter": 1, "scope": 1})
            self.assertEqual(report["modules"], 4)

    def test_a_parameter_with_such_a_name_makes_no_module(self):
        for weight, saying in (("d." * 10000 + "weight", "levels"),
                               ("x" * (1 << 20) + ".weight", "long")):
            model = self.model("/fc/Add", weight)
            for command in ("tag", "tree", "analyze"):
                result = self.succeed(command, model, "--format", "json")
                self.assertRegex(result.stderr, f"name of a parameter.* {saying}")
            self.assertEqual(json.loads(result.stdout)["modules"], 3)

    def test_metadata_of_every_bad_form_are_said_and_left_out(self):
        deep = repr([""] + [f"m{i}" for i in range(10000)] + ["add"])
        good = "['', 'enc', 'add']"
        for scopes, classes in (
                ("enc", None), ("['', 'enc, 'add']", None), (b"['', 'e\xff', 'add']", None),
                (good, "['app.Net', 'aten.add']"), (deep, None),
                (repr(["", "x" * (1 << 20), "add"]), None)):
            metadata = {"pkg.torch.onnx.name_scopes": scopes}
            if classes is not None:
                metadata["pkg.torch.onnx.class_hierarchy"] = classes
            model = self.model("/dec/Add", metadata=metadata)
            for command in ("tag", "analyze"):
                result = self.succeed(command, model, "--format", "json")
                self.assertRegex(result.stderr, "node '/dec/Add': .*(hierarchy|name_scopes)")
                self.assertEqual(json.loads(result.stdout)["provenance"], {"scope": 2})


class NodeModules(Case):
    def modules(self, path):
        sidecar = self.folder / "sidecar.json"
        sidecar.unlink(missing_ok=True)
        self.succeed("tag", path, "--sidecar", sidecar)
        return [node["module"] for node in json.loads(sidecar.read_text())["nodes"]]


class Rewritten(NodeModules):
    """Files whose weights or names a tool wrote otherwise."""

    FOLDERS = [folder.name for folder in sorted(FIXTURES.iterdir())
               if folder.name != "scale_1000" and (folder / "model.onnx").exists()] if FIXTURES else []

    def test_weights_in_constants(self):
        for folder in self.FOLDERS:
            path = FIXTURES / folder / "model.onnx"
            model = Model(path)
            constants = []
            for tensor in model.tensors:
                value = Message().add(1, "value").add(5, tensor).add(20, 4)
                constants.append(Node().add(2, tensor.text(8)).add(4, "Constant").add(5, value))
            model.nodes[:0] = constants
            model.tensors = []
            rewritten = self.modules(model.write(self.folder / f"{folder}.onnx"))
            self.assertEqual(rewritten[len(constants):], self.modules(path), folder)

    def prefixed(self, path, prefix):
        """Returns: the model as tools write it before they merge it with another."""
        model = Model(path)
        for node in model.nodes:
            for number in (1, 2):
                node.put(number, [prefix + v.decode() if v else v for v in node.all(number)])
            node.put(3, [prefix + node.name] if node.name else [])
        for tensor in model.tensors:
            tensor.put(8, [prefix + tensor.text(8)])
        for number in (11, 12, 13):
            values = [Message(value) for value in model.graph.all(number)]
            model.graph.put(number, [v.put(1, [prefix + v.text(1)]) for v in values])
        return model

    def merged(self, path, first, second):
        for number in (11, 12, 13):
            first.graph.put(number, first.graph.all(number) + second.graph.all(number))
        first.nodes += second.nodes
        first.tensors += second.tensors
        return self.modules(first.write(path))

    def test_names_with_a_prefix(self):
        for folder in self.FOLDERS:
            path = FIXTURES / folder / "model.onnx"
            if Model(path).has_bodies():
                continue
            expected = self.modules(path)
            rewritten = self.folder / f"{folder}.onnx"
            for prefix in ("enc_", "If_0_else_branch__Inline_0__", "m1/", "x."):
                self.assertEqual(self.modules(self.prefixed(path, prefix).write(rewritten)), expected,
                                 (folder, prefix))

    def test_merged_models_are_modules(self):
        first, second = (FIXTURES / folder / "model.onnx" for folder in ("bert_micro", "unet_tiny"))
        plain = self.modules(first)
        scoped = [f"b_.{module}" if module else "b_" for module in self.modules(second)]
        rewritten = self.merged(self.folder / "merged.onnx", Model(first), self.prefixed(second, "b_"))
        self.assertEqual(rewritten, plain + scoped)
        rewritten = self.merged(self.folder / "both.onnx", self.prefixed(first, "a/"),
                                self.prefixed(second, "b_"))
        self.assertEqual(rewritten, [f"a.{module}" if module else "a" for module in plain] + scoped)

    def test_queries_and_pictures_have_the_names_of_the_file(self):
        path = FIXTURES / "unet_tiny" / "model.onnx"
        rewritten = self.prefixed(path, "p_").write(self.folder / "prefixed.onnx")
        for term in ("name:{}*Conv*", "reads:{}**.weight"):
            plain = self.succeed("query", path, term.format("")).stdout.splitlines()
            self.assertEqual(self.succeed("query", rewritten, term.format("p_")).stdout.splitlines(),
                             [f"p_{name}" for name in plain])
        names = self.succeed("export", rewritten, "--to", "graphml").stdout
        self.assertIn(">p_/inc/", names)


class TaggedBefore(NodeModules):
    """Files that a tool changed after they were tagged, in what names their modules."""

    def tagged(self, model, *arguments):
        """Returns: the tagged file, and the module of each node."""
        path = self.folder / f"{model.parent.name}.{model.stem}.tagged.onnx"
        self.succeed("tag", model, "-o", path, "--force", *arguments)
        return path, self.modules(path)

    def check(self, path, expected):
        self.assertEqual(self.modules(path), expected)
        again = self.folder / "again.onnx"
        self.assertIn("the model changed since it was tagged",
                      self.succeed("tag", path, "-o", again, "--force").stderr)
        self.assertEqual(self.modules(again), expected)
        self.assertEqual(self.succeed("tag", again, "-o", self.folder / "more.onnx", "--force").stderr, "")
        self.assertEqual((self.folder / "more.onnx").read_bytes(), again.read_bytes())

    def test_names_changed(self):
        for folder, carriers in (("bert_micro", "metadata,mark"), ("unet_tiny", "metadata"),
                                 ("gpt2_tiny", "namespace"), ("bert_micro", "attribute"),
                                 ("unet_tiny", "doc-string")):
            path, expected = self.tagged(FIXTURES / folder / "model.onnx", "--carrier", carriers)
            model = Model(path)
            for node in model.nodes:
                node.put(1, ["p_" + value if value else value for value in node.inputs])
                node.put(2, ["p_" + value if value else value for value in node.outputs])
                node.drop(3)
            for tensor in model.tensors:
                tensor.put(8, ["p_" + tensor.text(8)])
            for number in (11, 12, 13):
                values = [Message(value) for value in model.graph.all(number)]
                model.graph.put(number, [v.put(1, ["p_" + v.text(1)]) for v in values])
            self.check(model.write(path), expected)

    def test_names_of_nodes_changed(self):
        for source in (FIXTURES / "bert_micro/model.onnx", DIALECTS / "recurrence.onnx",
                       FIXTURES / "bert_micro/model.functions_all.onnx"):  # with shared bodies
            for rename in (lambda node, i: node.put(3, [str(i)]), lambda node, i: node.drop(3)):
                path, expected = self.tagged(source)
                model = Model(path)
                for i, node in enumerate(model.nodes):
                    rename(node, i)
                self.check(model.write(path), expected)

    def test_names_given(self):
        model = Model(FIXTURES / "bert_micro/model.onnx")
        for node in model.nodes:
            node.drop(3)
        nameless = model.write(self.folder / "nameless.onnx")
        path, expected = self.tagged(nameless, "--name-nodes")
        self.assertEqual(self.succeed("tag", path).stderr, "")
        named = Model(path)
        for node in named.nodes:
            node.drop(3)
        self.assertEqual(self.succeed("tag", named.write(path)).stderr, "")
        self.assertEqual(self.modules(path), expected)
        for i, node in enumerate(named.nodes):
            node.put(3, [str(i)])
        self.check(named.write(path), expected)

    def test_metadata_dropped(self):
        for dialect in ("dynamo", "dynamo_strict"):
            path, expected = self.tagged(DIALECTS / f"{dialect}.onnx")
            model = Model(path)
            for node in model.nodes:
                node.drop(9)
            self.check(model.write(path), expected)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
