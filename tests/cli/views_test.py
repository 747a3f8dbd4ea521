#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that write views for other programs: dag, export.

usage: views_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import os
import re
import sys
import unittest
import xml.etree.ElementTree as xml

from program_test import FIXTURES, Case

MODELS = ["bert_micro", "control_flow", "quirks", "scale_1000", "shared_twice", "two_tower"]


class ViewCase(Case):
    def write(self, *arguments, fixture, stem="model", capture=True):
        """The output of a command for a fixture."""
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
    """The names of nodes in reports, by position."""
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
                operation = operations[names[node["graph"], node["index"]]]
                self.assertEqual((operation["op_type"], operation["tags"]), (node["op_type"], node["tags"]))
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


GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
SVG = "{http://www.w3.org/2000/svg}"


class Graphml(ViewCase):
    def read(self, fixture, *options):
        """The flat graph as NetworkX reads it, and the document."""
        import networkx  # Debian: python3-networkx
        text = self.write("export", "--to", "graphml", *options, fixture=fixture)
        return networkx.parse_graphml(text), xml.fromstring(text)

    def test_networkx_reads_back_what_the_sidecar_tells(self):
        for fixture in MODELS:
            sidecar = self.sidecar(fixture)
            reads = sum(len(value["consumers"]) for value in sidecar["values"] if value["producer"])
            for options in ([], ["--flat"]):
                graph, _ = self.read(fixture, *options)
                operators = [fields for _, fields in graph.nodes(data=True)
                             if fields["kind"] == "operator"]
                result = lambda one: (one.get("name", ""), one["op_type"], one["tag"],
                                      one.get("path", ""), one["provenance"])
                self.assertEqual(
                    sorted(map(result, operators)),
                    sorted((node["name"], node["op_type"], node["tag"], node["scope_module"],
                            node["provenance"]) for node in sidecar["nodes"]))
                modules = graph.number_of_nodes() - len(operators)
                self.assertEqual(modules, 0 if options else len(sidecar["modules"]) - 1)
                # Without bodies, edges are reads of outputs of nodes.
                if fixture not in ("control_flow", "quirks"):
                    self.assertEqual(graph.number_of_edges(), reads)
                tensors = {edge["tensor"] for _, _, edge in graph.edges(data=True)}
                self.assertLessEqual(tensors, {value["name"] for value in sidecar["values"]})

    def test_graphs_nest_as_modules_do(self):
        for fixture in MODELS:
            sidecar = self.sidecar(fixture)
            _, document = self.read(fixture)
            nested = []

            def walk(graph, above):
                texts = lambda element: {data.get("key"): data.text or ""
                                         for data in element.findall(GRAPHML + "data")}
                for node in graph.findall(GRAPHML + "node"):
                    about = texts(node)
                    inner = node.findall(GRAPHML + "graph")
                    self.assertEqual(len(inner), 1 if about["kind"] == "module" else 0)
                    if inner:
                        nested.append((about["path"], above))
                        walk(inner[0], about["path"])
                    else:
                        self.assertEqual(about.get("path", ""), above)

            outermost = document.findall(GRAPHML + "graph")
            self.assertEqual(len(outermost), 1)
            walk(outermost[0], "")
            self.assertEqual(nested, [(m["path"], m["parent"]) for m in sidecar["modules"][1:]])

    def test_keys_are_declared_and_edges_have_types(self):
        graph, document = self.read("bert_micro")
        declared = {key.get("id") for key in document.findall(GRAPHML + "key")}
        used = {data.get("key") for data in document.iter(GRAPHML + "data")}
        self.assertLessEqual(used, declared)
        typed = [edge for _, _, edge in graph.edges(data=True) if "type" in edge and "shape" in edge]
        self.assertGreater(len(typed), 0.9 * graph.number_of_edges())
        ids = [element.get("id") for element in document.iter() if element.get("id")]
        self.assertEqual(len(set(ids)), len(ids))

    def test_models_without_any_hierarchy(self):
        named, _ = self.read("bert_micro")
        text = self.write("export", "--to", "graphml", fixture="bert_micro", stem="anonymous",
                          capture=False)
        self.assertEqual(len(list(xml.fromstring(text).iter(GRAPHML + "edge"))),
                         named.number_of_edges())


class Pictures(ViewCase):
    def draw(self, *options, fixture="bert_micro", **more):
        return xml.fromstring(self.write("export", "--to", "svg", *options, fixture=fixture, **more))

    @staticmethod
    def parts(svg, kind):
        return [group for group in svg.iter(SVG + "g") if group.get("class") == kind]

    @staticmethod
    def texts(element):
        return " ".join(text.text or "" for text in element.iter(SVG + "text"))

    def test_pictures_stay_readable(self):
        for fixture in MODELS + ["bert_micro_12l", "gpt2_tiny"]:
            for most in (20, 60):
                svg = self.draw("--max-nodes", most, fixture=fixture)
                boxes = [node for node in self.parts(svg, "node")
                         if node.find(SVG + "title").text.startswith("b")]
                self.assertTrue(0 < len(boxes) <= most, f"{fixture}: {len(boxes)} boxes")

    def test_depth_says_how_far_the_tree_is_unfolded(self):
        clusters = [{self.texts(title).split()[0]
                     for title in self.parts(self.draw("--depth", depth, "--max-nodes", 1000),
                                             "title")} for depth in (0, 1)]
        self.assertEqual(clusters, [{"BertModel"}, {"BertModel", "embeddings", "encoder", "pooler"}])
        boxes = " ".join(map(self.texts, self.parts(self.draw("--depth", 0), "node")))
        for module in ("embeddings", "encoder", "pooler"):
            self.assertIn(module, boxes)

    def test_one_module_is_shown_with_what_goes_in_and_out(self):
        svg = self.draw("--module", "pooler")
        self.assertEqual(self.texts(self.parts(svg, "title")[0]).split(), ["pooler", "BertPooler"])
        nodes = " ".join(map(self.texts, self.parts(svg, "node")))
        for text in ("Gather", "Gemm", "Tanh", "pooler_output", "last_hidden_state", "32\u00d732"):
            self.assertIn(text, nodes)
        labels = " ".join(map(self.texts, self.parts(svg, "label")))
        self.assertIn("batch_size\u00d732", labels)

    def test_titles_and_labels_stand_above_the_edges_that_cross_them(self):
        for fixture in ("bert_micro", "control_flow"):
            svg = self.draw(fixture=fixture)
            kinds = [group.get("class") for group in svg.iter(SVG + "g")]
            self.assertGreater(min(kinds.index("title"), kinds.index("label")),
                               len(kinds) - 1 - kinds[::-1].index("edge"))
            for title in self.parts(svg, "title") + self.parts(svg, "label"):
                self.assertTrue(self.texts(title))
                self.assertTrue(all(text.get("paint-order") == "stroke" for text in title))
            self.assertEqual("".join(map(self.texts, self.parts(svg, "cluster") + self.parts(svg, "edge"))).strip(), "")

    def test_closed_modules_have_the_nodes_of_the_tree(self):
        boxes = " ".join(map(self.texts, self.parts(self.draw("--depth", 0), "node")))
        folder = FIXTURES / "bert_micro"
        tree = json.loads(self.succeed("tree", folder / "model.onnx", "-m", folder / "modules.json",
                                       "--format", "json").stdout)
        for module in tree["modules"]:
            if module["path"] in ("embeddings", "encoder", "pooler"):
                self.assertRegex(boxes, rf"\b{module['nodes']} nodes")

    def test_modules_of_one_class_have_one_colour(self):
        svg = self.draw("--depth", 3, "--max-nodes", 1000)
        colours = {}
        clusters = self.parts(svg, "cluster")
        titles = self.parts(svg, "title")
        self.assertEqual(len(clusters), len(titles))
        for node, texts in [(node, node) for node in self.parts(svg, "node")] + list(zip(clusters, titles)):
            for name in ("BertLayer", "BertAttention", "Embedding"):
                if re.search(rf"\b{name}\b", self.texts(texts)):
                    colours.setdefault(name, set()).add(next(node.iter(SVG + "path")).get("fill"))
        self.assertEqual({name: len(shades) for name, shades in colours.items()},
                         {"BertLayer": 1, "BertAttention": 1, "Embedding": 1})
        self.assertEqual(len(set().union(*colours.values())), 3)

    def test_models_without_any_hierarchy(self):
        svg = self.draw(stem="anonymous", capture=False)
        self.assertIn("more nodes", self.texts(svg))

    def test_where_no_picture_can_be_made(self):
        model = FIXTURES / "bert_micro" / "model.onnx"
        self.fail_with(2, "export", model, "--to", "svg", "--module", "**.dense",
                       saying="a picture shows one")
        self.fail_with(1, "export", model, "--to", "svg", "--module", "poolr", saying="'pooler'")
        for option in (["--module", "pooler"], ["--depth", 1], ["--node-counts", "x.json"]):
            self.fail_with(2, "export", model, "--to", "graphml", *option, saying=option[0])
        self.fail_with(2, "export", model, "--to", "svg", "--flat", saying="--flat")
        path, os.environ["PATH"] = os.environ["PATH"], str(self.folder)
        try:
            self.fail_with(4, "export", model, "--to", "svg", "-o", self.folder / "x.svg",
                           saying="Graphviz")
        finally:
            os.environ["PATH"] = path
        self.assertFalse((self.folder / "x.svg").exists())


class Overlays(ViewCase):
    """report_test.mjs checks in a browser how the page shows overlays."""
    MODEL = FIXTURES / "mlp" / "model.onnx"

    def overlay(self, document):
        path = self.folder / "overlay.json"
        path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        return path

    def page_data(self, *options):
        out = self.folder / "page.html"
        result = self.succeed("export", self.MODEL, "--to", "html", *options, "-o", out, "--no-sync")
        data = out.read_text().split('id="data">')[1].split("</script>")[0]
        return json.loads(data), result.stderr

    def test_reports_of_the_program_are_laid_over_the_page(self):
        times = self.folder / "times.csv"
        times.write_text("name,time\n/fc1/Gemm,3\n/fc2/Gemm,1\n")
        paths = {}
        for name, command in {"profile": ["profile", self.MODEL, times],
                              "cost": ["analyze", self.MODEL, "--cost", "--dim", "batch=2"]}.items():
            paths[name] = self.folder / f"{name}.json"
            paths[name].write_text(self.succeed(*command, "--format", "json").stdout)
        data, said = self.page_data(*(word for path in paths.values() for word in ("--overlay", path)))
        self.assertEqual(said, "")
        self.assertEqual([overlay["title"] for overlay in data["overlays"]], [str(path) for path in paths.values()])
        modules = [module[0] for module in data["modules"]]
        time, cost = data["overlays"]
        rows = {modules[row[0]]: row[1:] for row in time["modules"]}
        self.assertEqual((rows["fc1"][0], rows["fc2"][0]), (3, 1))
        report = json.loads(paths["cost"].read_text())
        self.assertEqual({modules[row[0]]: row[1] for row in cost["modules"]},
                         {module["path"]: module["macs"] for module in report["modules"]})
        self.assertEqual(self.page_data()[0]["overlays"], [])

    def test_a_picture_is_coloured_by_a_column(self):
        path = self.overlay({"schema": "stemma.overlay/1",
                             "columns": [{"name": "a note"}, {"name": "time", "unit": "us", "better": "lower"}],
                             "modules": [{"path": "fc1", "values": ["slow", 8]}, {"path": "fc2", "values": ["", 0]}]})
        picture = self.folder / "overlay.dot"
        self.succeed("export", self.MODEL, "--to", "dot", "-o", picture, "--overlay", path)
        text = picture.read_text()
        self.assertRegex(text, r'fc1.*8 us.*fillcolor="#f87171"')
        self.assertRegex(text, r'fc2.*0 us.*fillcolor="#ffffff"')
        for words, saying in ((("--column", "a note"), "'a note'; known: time"), (("--overlay", path), "shows more than one")):
            self.fail_with(2, "export", self.MODEL, "--to", "dot", "-o", picture, "--overlay", path, *words, saying=saying)

    def test_what_is_no_overlay_is_refused_in_one_line(self):
        good = {"schema": "stemma.overlay/1", "columns": [{"name": "a"}], "modules": [{"path": "fc1", "values": [1]}]}
        out = self.folder / "none.html"
        for status, document, saying in [
                (3, b"", "overlay.json"), (3, b"\xff\x00", "overlay.json"), (3, b'{"a": ', "overlay.json"),
                (3, b"[" * 200000, "overlay.json"), (3, {**good, "schema": "stemma.tag/1"}, "known: stemma.overlay/1"),
                (3, {**good, "columns": [{"name": "a"}] * 101}, "columns"),
                (3, {**good, "modules": [{"path": "fc1", "values": [{}]}]}, "modules[0].values[0]"),
                (2, {**good, "modules": [{"path": "gone", "values": [1]}]}, "matches no")]:
            self.fail_with(status, "export", self.MODEL, "--to", "html", "--overlay", self.overlay(document), "-o", out,
                           saying=saying)
            self.assertFalse(out.exists())
        self.fail_with(3, "export", self.MODEL, "--to", "html", "--overlay", self.folder / "no.json", saying="no.json")
        self.fail_with(2, "export", self.MODEL, "--to", "graphml", "--overlay", self.overlay(good), saying="--overlay")

    def test_texts_stay_texts_and_rows_of_other_models_are_counted(self):
        text = "</script><script>alert(1)</script>"
        overlay = self.overlay({"schema": "stemma.overlay/1", "title": text, "columns": [{"name": text, "unit": text}],
                                "modules": [{"path": "fc1", "values": [text]}, {"path": text, "values": [1]}]})
        data, said = self.page_data("--overlay", overlay)
        self.assertNotIn("<script>alert", (self.folder / "page.html").read_text())
        self.assertIn("1 row not in the model", said)
        self.assertEqual((data["overlays"][0]["title"], data["overlays"][0]["unmatched"]), (text, 1))

    def test_the_page_is_the_same_for_any_number_of_threads(self):
        pages = []
        for threads in (1, 4):
            pages.append(self.write("export", "--to", "html", "--threads", threads, fixture="scale_1000"))
        self.assertEqual(*pages)


class ModelExplorer(ViewCase):
    """Follows the rules of Model Explorer's formats for graphs and node data."""

    def read(self, fixture, **more):
        overlays = [self.folder / "counts.json", self.folder / "bytes.json"]
        graphs = json.loads(self.write("export", "--to", "model-explorer", "--node-counts", overlays[0],
                                       "--weight-bytes", overlays[1], fixture=fixture, **more))
        return graphs, [json.loads(path.read_text()) for path in overlays]

    def check_pairs(self, pairs):
        for pair in pairs:
            self.assertEqual(set(pair), {"key", "value"})
            self.assertTrue(all(isinstance(text, str) for text in pair.values()))

    def check_graph(self, graph, graph_ids):
        self.assertLessEqual(set(graph), {"id", "nodes", "groupNodeAttributes"})
        nodes = {node["id"]: node for node in graph["nodes"]}
        self.assertEqual(len(nodes), len(graph["nodes"]))
        namespaces = {""}
        for node in graph["nodes"]:
            self.assertLessEqual({"id", "label", "namespace"}, set(node))
            self.assertLessEqual(set(node), {"id", "label", "namespace", "attrs", "incomingEdges",
                                             "inputsMetadata", "outputsMetadata", "subgraphIds"})
            self.assertTrue(node["id"] and node["label"])
            self.assertNotIn(";", node["namespace"])
            parts = re.split(r"(?<!\\)/", node["namespace"])
            self.assertTrue(all(parts) or parts == [""], node["namespace"])
            namespaces.update("/".join(parts[:n]) for n in range(1, len(parts) + 1))
            self.check_pairs(node.get("attrs", []))
            for kind in ("inputsMetadata", "outputsMetadata"):
                ports = node.get(kind, [])
                self.assertEqual(len({port["id"] for port in ports}), len(ports))
                for port in ports:
                    self.assertIsInstance(port["id"], str)
                    self.check_pairs(port["attrs"])
            for edge in node.get("incomingEdges", []):
                self.assertEqual(set(edge), {"sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"})
                self.assertTrue(all(isinstance(text, str) for text in edge.values()))
                source = nodes[edge["sourceNodeId"]]
                self.assertIn(edge["sourceNodeOutputId"],
                              [port["id"] for port in source["outputsMetadata"]])
            self.assertLessEqual(set(node.get("subgraphIds", [])), graph_ids)
        self.assertLessEqual(set(graph["groupNodeAttributes"]), namespaces)
        for about in graph["groupNodeAttributes"].values():
            self.assertTrue(all(isinstance(text, str) for text in about.values()))

    def test_files_keep_the_rules_of_the_format(self):
        for fixture in MODELS + ["bert_mlm", "lstm_classifier"]:
            graphs, overlays = self.read(fixture)
            self.assertEqual(set(graphs), {"label", "graphs"})
            ids = [graph["id"] for graph in graphs["graphs"]]
            self.assertEqual(len(set(ids)), len(ids))
            nodes = {graph["id"]: {node["id"] for node in graph["nodes"]} for graph in graphs["graphs"]}
            for graph in graphs["graphs"]:
                self.check_graph(graph, set(ids))
            for overlay in overlays:
                self.assertLessEqual(set(overlay), set(ids))
                for graph, data in overlay.items():
                    self.assertLessEqual(set(data["results"]), nodes[graph])
                    self.assertTrue(all(one["value"] > 0 for one in data["results"].values()))

    def test_modules_are_the_groups_and_their_sums_are_those_of_the_tree(self):
        for fixture in ("bert_micro", "shared_twice", "scale_1000"):
            graphs, (counts, _) = self.read(fixture)
            sidecar = self.sidecar(fixture)
            (graph,) = graphs["graphs"]
            by_path = {m["path"]: m for m in sidecar["modules"]}
            results = counts["main"]["results"]
            for group, about in graph["groupNodeAttributes"].items():
                module = by_path[group.replace("/", ".")]
                total = sum(results[node["id"]]["value"] for node in graph["nodes"]
                            if node["id"] in results
                            and (group in ("", node["namespace"]) or
                                 node["namespace"].startswith(group + "/")))
                self.assertEqual(total, module["nodes"])
                self.assertEqual(about["nodes"], str(module["nodes"]))
                self.assertEqual(about.get("tag"), module["tag"])
                self.assertEqual(about["class"], module["qualified_class"])
            self.assertEqual(len(graph["groupNodeAttributes"]),
                             sum(module["nodes"] > 0 for module in sidecar["modules"]))

    def test_bytes_of_weights_are_those_of_the_file(self):
        # Every weight of this model is read; the types are int64 and float32.
        _, (_, weights) = self.read("mlp")
        shown = sum(one["value"] for one in weights["main"]["results"].values())
        self.assertEqual(shown, 4 * (4 * 8 + 8 + 8 * 3 + 3))

    def test_bodies_are_graphs_below_their_owners(self):
        graphs, _ = self.read("control_flow")
        owned = [each for graph in graphs["graphs"] for node in graph["nodes"]
                 for each in node.get("subgraphIds", [])]
        self.assertEqual(sorted(owned), sorted(g["id"] for g in graphs["graphs"] if g["id"] != "main"))
        self.assertGreaterEqual(len(owned), 3)

    def test_models_without_any_hierarchy(self):
        graphs, _ = self.read("bert_micro", stem="anonymous", capture=False)
        self.assertEqual(len([node for node in graphs["graphs"][0]["nodes"] if node["id"].isdigit()]), 281)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
