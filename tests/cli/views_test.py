#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that write views of a model for other programs: dag, export.

usage: views_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import sys
import unittest

from program_test import FIXTURES, Case

MODELS = ["bert_micro", "control_flow", "quirks", "scale_1000", "shared_twice", "two_tower"]


class ViewCase(Case):
    def write(self, *arguments, fixture, stem="model", capture=True):
        """The text that a command writes about a fixture."""
        folder = FIXTURES / fixture
        with_capture = ["-m", folder / "modules.json"] if capture else []
        out = self.folder / "out"
        self.succeed(*arguments, folder / f"{stem}.onnx", *with_capture, "-o", out, "--no-sync")
        return out.read_text()

    def sidecar(self, fixture, *options):
        folder = FIXTURES / fixture
        path = self.folder / "sidecar.json"
        self.succeed("tag", folder / "model.onnx", "-m", folder / "modules.json", "--sidecar", path,
                     "--no-sync", *options)
        return json.loads(path.read_text())


def shown_names(sidecar):
    """By place, the names that reports use for nodes."""
    nodes = sidecar["nodes"]
    names = [node["name"] for node in nodes]
    weights = {value["name"] for value in sidecar["values"] if value["kind"] == "initializer"}
    return {(node["graph"], node["index"]):
            node["name"] if node["name"] and names.count(node["name"]) == 1
            and node["name"] not in weights else f"{node['graph']}#{node['index']}"
            for node in nodes}


class Dag(ViewCase):
    def test_the_graphs_are_those_that_the_sidecar_tells(self):
        for fixture in ["bert_micro", "scale_1000", "two_tower"]:  # without bodies
            for select in ("default", "all"):
                sidecar = self.sidecar(fixture, "--select", select)
                names = shown_names(sidecar)
                for multi in (False, True):
                    options = ["--select", select] + (["--multi"] if multi else [])
                    subtree = json.loads(self.write("dag", *options, fixture=fixture))
                    direct = json.loads(self.write("dag", *options, "--level", "direct",
                                                   fixture=fixture))
                    tags = [m["tag"] for m in sidecar["modules"] if m["tag"]]
                    self.assertEqual(list(subtree), tags)
                    self.assertEqual(list(direct), tags)
                    self.check_modules(sidecar, names, multi, subtree, direct)

    def check_modules(self, sidecar, names, multi, subtree, direct):
        place = lambda one: (one["graph"], one["index"])
        reads = [(names[place(value["producer"])], names[place(reader)])
                 for value in sidecar["values"] if value["producer"] for reader in value["consumers"]]
        for tag in subtree:
            stand = {True: [], False: []}  # own, below
            for node in sidecar["nodes"]:
                if node["op_type"] == "Constant":
                    continue
                tags = node["tags"] if multi else [node["tag"]]
                if tag in tags:
                    stand[True].append(names[place(node)])
                if any(t == tag or t.startswith(tag + "/") for t in tags):
                    stand[False].append(names[place(node)])
            self.assertEqual(direct[tag]["nodes"], stand[True])
            self.assertEqual(subtree[tag]["nodes"], stand[False])
            for dag in (direct[tag], subtree[tag]):
                inside = set(dag["nodes"])
                edges = [tuple(edge) for edge in dag["edges"]]
                self.assertEqual(set(edges), {(a, b) for a, b in reads if a in inside and b in inside})
                self.assertEqual(len(set(edges)), len(edges))
                rank = {name: i for i, name in enumerate(dag["nodes"])}
                self.assertEqual(edges, sorted(edges, key=lambda e: (rank[e[0]], rank[e[1]])))

    def test_all_modules_have_an_entry_when_all_are_selected(self):
        for fixture in MODELS:
            folder = FIXTURES / fixture
            tree = json.loads(self.succeed("tree", folder / "model.onnx", "-m",
                                           folder / "modules.json", "--format", "json", "--select",
                                           "all").stdout)
            dags = json.loads(self.write("dag", "--select", "all", fixture=fixture))
            self.assertEqual(list(dags), [module["tag"] for module in tree["modules"]])
            for module in tree["modules"]:
                self.assertLessEqual(len(dags[module["tag"]]["nodes"]), module["nodes"])

    def test_a_tagged_file_alone_says_the_same(self):
        for fixture in MODELS:
            folder = FIXTURES / fixture
            tagged = self.folder / "tagged.onnx"
            self.succeed("tag", folder / "model.onnx", "-m", folder / "modules.json", "-o", tagged)
            self.assertEqual(self.succeed("dag", tagged, "--multi").stdout,
                             self.write("dag", "--multi", fixture=fixture))

    def test_operations_are_all_nodes_and_weights(self):
        for fixture in MODELS:
            sidecar = self.sidecar(fixture)
            path = self.folder / "operations.json"
            self.write("dag", "--operations", path, "--no-sync", fixture=fixture)
            operations = json.loads(path.read_text())
            names = shown_names(sidecar)
            for node in sidecar["nodes"]:
                told = operations[names[node["graph"], node["index"]]]
                self.assertEqual((told["op_type"], told["tags"]), (node["op_type"], node["tags"]))
            weights = [value for value in sidecar["values"] if value["kind"] == "initializer"]
            self.assertEqual(len(operations), len(sidecar["nodes"]) + len(weights))
            for value in weights:
                self.assertEqual(operations[value["name"]]["op_type"], "Initializer")

    def test_models_without_any_hierarchy_have_one_graph(self):
        dags = json.loads(self.write("dag", fixture="bert_micro", stem="anonymous", capture=False))
        self.assertGreater(max(len(dag["nodes"]) for dag in dags.values()), 100)

    def test_where_nothing_can_be_written(self):
        model = FIXTURES / "mlp" / "model.onnx"
        self.fail_with(4, "dag", model, "-o", self.folder / "none" / "dag.json")
        self.fail_with(3, "dag", self.folder / "none.onnx")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
