#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the stemma program like a user: results, exit status, messages about bad input.

usage: program_test.py PROGRAM FIXTURES [unittest arguments]
"""
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 2 else None
FIXTURES = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None

CARRIERS = ["metadata", "mark", "attribute", "doc-string", "namespace", "model", "metadata,doc-string",
            "metadata,mark", "metadata,mark,attribute,doc-string,namespace,model"]


def run(*arguments, **options):
    return subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, **options)


def models():
    """Every model of every fixture, with the arguments for its capture; only a sample if sanitizers slow
    the program down."""
    for model in sorted(FIXTURES.glob("*/*.onnx"))[::int(os.environ.get("STEMMA_EVERY", "1"))]:
        modules = model.parent / "modules.json"
        yield model, (["-m", modules] if modules.exists() else [])


def without_names(text, *paths):
    """Reports contain the file name and the time; everything else must be equal."""
    for path in paths:
        text = text.replace(str(path), "MODEL")
    return re.sub(r'"seconds": [0-9.e+-]+', '"seconds": 0', text)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stemma-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def succeed(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result

    def fail_with(self, status, *arguments, saying=""):
        """One line on standard error with the reason, and no sign of a crash."""
        result = run(*arguments)
        self.assertEqual(result.returncode, status, f"{arguments}: {result.stderr}")
        lines = [line for line in result.stderr.splitlines() if line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("stemma: "), lines[0])
        self.assertIn(saying, lines[0])
        return lines[0]


class TaggedFiles(Case):
    def test_a_tagged_file_alone_says_what_the_original_says_with_its_capture_and_strips_to_it(self):
        for model, capture in models():
            tagged = self.folder / "tagged.onnx"
            stripped = self.folder / "stripped.onnx"
            nodes = [f"#{i}" for i in range(0, 60, 7)]
            wanted = {}
            for command in (["tree"], ["tree", "--format", "json"], ["analyze"],
                            ["analyze", "--format", "json"], ["explain"]):
                asked = nodes if command[0] == "explain" else []
                result = run(command[0], model, *asked, *command[1:], *capture)
                wanted[tuple(command)] = without_names(result.stdout, model)
            for carrier in CARRIERS:
                self.succeed("tag", model, *capture, "-o", tagged, "--carrier", carrier, "-q")
                for command, expected in wanted.items():
                    asked = nodes if command[0] == "explain" else []
                    result = run(command[0], tagged, *asked, *command[1:])
                    self.assertEqual(without_names(result.stdout, tagged), expected,
                                     f"{command} of {model}, carrier {carrier}")
                self.succeed("strip", tagged, "-o", stripped, "-q")
                self.assertEqual(stripped.read_bytes(), model.read_bytes(), f"{model}, carrier {carrier}")

    def test_a_tagged_file_knows_by_which_policies(self):
        model = FIXTURES / "bert_micro/model.onnx"
        capture = ["-m", FIXTURES / "bert_micro/modules.json"]
        tagged = self.folder / "tagged.onnx"
        for naming, resolution in (("module-paths", "cautious"), ("names-and-classes", "confidence")):
            options = ["--naming", naming, "--resolve", resolution]
            self.succeed("tag", model, *capture, "-o", tagged, "-q", *options)
            wanted = run("explain", model, "#40", *capture, *options).stdout
            self.assertEqual(without_names(run("explain", tagged, "#40").stdout, tagged),
                             without_names(wanted, model))
            self.assertNotEqual(wanted, run("explain", model, "#40", *capture).stdout)
            self.succeed("validate", tagged, "--no-checker", "-q")

    def test_findings_count_as_the_policy_says(self):
        model = self.folder / "tagged.onnx"
        self.succeed("tag", FIXTURES / "mlp/model.onnx", "-o", model, "-q", "--carrier", "metadata")
        whole = model.read_bytes()
        self.assertIn(b"/model/fc2", whole)
        model.write_bytes(whole.replace(b"/model/fc2", b"/model/fcX", 1))

        def status(*policy):
            return run("validate", model, "--no-checker", *policy).returncode
        self.assertEqual(status(), 1)
        self.assertEqual(status("--findings", "errors"), 1)
        self.assertEqual(status("--findings", "without:tags.*"), 0)

    def test_the_output_may_be_the_input(self):
        model = self.folder / "model.onnx"
        original = (FIXTURES / "bert_micro/model.onnx").read_bytes()
        model.write_bytes(original)
        self.succeed("tag", model, "-o", model, "-q")
        self.assertNotEqual(model.read_bytes(), original)
        self.succeed("strip", model, "-o", model, "-q")
        self.assertEqual(model.read_bytes(), original)

    def test_without_output_nothing_is_written(self):
        model = self.folder / "model.onnx"
        shutil.copy(FIXTURES / "mlp/model.onnx", model)
        self.succeed("tag", model)
        self.assertEqual(os.listdir(self.folder), ["model.onnx"])

    def test_a_changed_graph_is_noticed(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", FIXTURES / "mlp/model.onnx", "-m", FIXTURES / "mlp/modules.json", "-o",
                     tagged, "-q")
        # Relu and Tanh have the same length, so the file stays well-formed.
        tagged.write_bytes(tagged.read_bytes().replace(b'"\x04Relu', b'"\x04Tanh'))
        result = self.succeed("tree", tagged)
        self.assertIn("changed since it was tagged", result.stderr)
        self.assertIn("from what is left of them", result.stderr)
        # The tree is still the captured one.
        self.assertIn("MLP", result.stdout)
        anew = self.succeed("tree", tagged, "--recompute")
        self.assertNotIn("MLP", anew.stdout)

    def test_marks_are_written_unless_told_otherwise(self):
        model = FIXTURES / "mlp/model.onnx"
        sizes = {}
        for name, carrier in ("default", []), ("both", ["--carrier", "metadata,mark"]), \
                ("metadata", ["--carrier", "metadata"]):
            out = self.folder / f"{name}.onnx"
            self.succeed("tag", model, "-o", out, "-q", *carrier)
            sizes[name] = out.read_bytes()
        self.assertEqual(sizes["default"], sizes["both"])
        self.assertIn(b"stemma#0", sizes["default"])
        self.assertNotIn(b"stemma#", sizes["metadata"])
        self.assertNotIn(b"pkg.stemma.graph", sizes["metadata"])

    def test_to_tag_again_keeps_the_classes_or_says_that_it_does_not(self):
        tagged, again = self.folder / "tagged.onnx", self.folder / "again.onnx"
        self.succeed("tag", FIXTURES / "mlp/model.onnx", "-m", FIXTURES / "mlp/modules.json", "-o",
                     tagged, "-q")
        result = self.succeed("tag", tagged, "-o", again)
        self.assertNotIn("lost", result.stderr)
        self.assertEqual(again.read_bytes(), tagged.read_bytes())
        result = self.succeed("tag", tagged, "-o", again, "--recompute")
        self.assertIn("known only from its record", result.stderr)
        self.assertNotEqual(again.read_bytes(), tagged.read_bytes())

    def test_what_the_oracle_says_is_no_message(self):
        fixture = FIXTURES / "mlp"
        asked = "tag", fixture / "model.onnx", "--oracle", fixture / "truth.json"
        lines = [line for line in self.succeed(*asked).stdout.splitlines() if line.startswith("accuracy")]
        self.assertEqual(len(lines), 1)
        self.assertEqual(self.succeed(*asked, "-q").stdout.splitlines()[0], lines[0])
        self.assertEqual(self.succeed(*asked[:2], "-q").stdout, "")

    def test_messages_are_one_line_whatever_they_quote(self):
        self.fail_with(3, "tree", self.folder / "no\n such\n\nfile.onnx", saying="no? such??file.onnx: ")
        self.fail_with(1, "explain", FIXTURES / "mlp/model.onnx", "some\nthing", saying="some thing")

    def test_where_nothing_folds_it_says_what_would(self):
        model = FIXTURES / "mlp/model.onnx"
        out = self.folder / "folded.onnx"
        result = self.fail_with(1, "fold", model, "-o", out, saying="no module to fold: ")
        options = result[result.index("; ") + 2:result.index(" would make")].split()
        self.assertEqual(options[:2], ["--select", "all"])
        self.assertIn("would make", result)
        self.succeed("fold", model, "-o", out, *options)
        self.assertNotIn("would", self.fail_with(1, "fold", model, "-o", out, "--depth", "0", "--least",
                                                 "1000"))

    def test_unknown_names_are_answered_by_known_ones(self):
        model = FIXTURES / "mlp/model.onnx"
        for arguments, saying in (
                (["tag", model, "--propagate", "residul"],
                 "unknown propagation 'residul'; did you mean 'residual'? known: default, residual, "),
                (["tree", model, "--select", "dept:2"], "did you mean 'depth:N'? known: default, all, "),
                (["tag", model, "--naming", "module-path"], "did you mean 'module-paths'?"),
                (["tag", model, "--resolve", "trusted"], "did you mean 'trust'?"),
                (["tag", model, "--sources", "scope,metdata"], "did you mean 'metadata'?"),
                (["tag", model, "-o", self.folder / "x.onnx", "--carrier", "mark,metadat"], "did you mean 'metadata'?"),
                (["split", model, "--parts", "2", "-d", self.folder / "parts", "--cost", "byte"],
                 "did you mean 'bytes'?"),
                (["validate", model, "--findings", "strikt"], "did you mean 'strict'?")):
            self.fail_with(2, *arguments, saying=saying)

    def test_a_sidecar_and_a_tagged_file_stand_for_a_capture(self):
        fixture = FIXTURES / "bert_micro"
        model, capture = fixture / "model.onnx", fixture / "modules.json"
        tagged, sidecar = self.folder / "tagged.onnx", self.folder / "sidecar.json"
        self.succeed("tag", model, "-m", capture, "-o", tagged, "--sidecar", sidecar, "-q")
        tree = self.folder / "tree.json"
        tree.write_text(self.succeed("tree", model, "-m", capture, "--format", "json").stdout)
        for modules in sidecar, tree:
            again = self.folder / "again.onnx"
            result = self.succeed("tag", model, "-m", modules, "-o", again)
            self.assertEqual(result.stderr, "")
            self.assertEqual(again.read_bytes(), tagged.read_bytes(), modules)
            self.assertIn("no errors or warnings", self.succeed("validate", tagged, "-m", modules).stdout)
        # A model as the original: nodes of the other one also name its nodes.
        carried = self.folder / "carried.json"
        self.assertEqual(self.succeed("tag", model, "-m", tagged, "--sidecar", carried).stderr, "")
        self.assertIn("no errors or warnings", self.succeed("validate", tagged, "-m", tagged).stdout)
        before, after = (json.loads(file.read_text())["nodes"] for file in (sidecar, carried))
        keys = "scope_module", "module", "tag"
        self.assertEqual([[node[key] for key in keys] for node in after], [[node[key] for key in keys] for node in before])
        self.assertEqual({node["origin_kind"] for node in after}, {"kept"})

    def test_a_part_of_a_tagged_file_has_its_own_modules_and_parameters(self):
        fixture = FIXTURES / "bert_micro"
        tagged, part = self.folder / "tagged.onnx", self.folder / "part.onnx"
        self.succeed("tag", fixture / "model.onnx", "-m", fixture / "modules.json", "-o", tagged, "-q")
        listed = json.loads(self.succeed("tree", tagged, "--format", "json").stdout)["modules"]
        whole = {module["path"]: module for module in listed}
        asked = "encoder.layer.0.attention"
        self.succeed("cut", tagged, "--module", asked, "-o", part)
        modules = json.loads(self.succeed("tree", part, "--format", "json").stdout)["modules"]
        self.assertLess(len(modules), len(whole))
        for module in modules:
            path = module["path"]
            self.assertEqual((module["class"], module["tag"]), (whole[path]["class"], whole[path]["tag"]))
            self.assertGreater(module["nodes"], 0)
            self.assertTrue(path.startswith(asked) or asked.startswith(path))
        self.assertEqual(modules[0]["parameter_count"], whole[asked]["parameter_count"])
        self.assertLess(modules[0]["parameter_count"], whole[""]["parameter_count"])

    def test_a_record_that_cannot_be_read_is_ignored(self):
        tagged, again = self.folder / "tagged.onnx", self.folder / "again.onnx"
        self.succeed("tag", FIXTURES / "mlp/model.onnx", "-o", tagged, "-q")
        whole = tagged.read_bytes()
        tagged.write_bytes(whole.replace(b'{"schema": "stemma.model/1"', b'{"schema": {stemma.model/1"'))
        for arguments in ["tree", tagged], ["tag", tagged, "-o", again, "--recompute"], \
                ["tag", tagged, "-o", again]:
            result = self.succeed(*arguments)
            self.assertIn("pkg.stemma.model cannot be read and is ignored", result.stderr)
        self.assertEqual(again.read_bytes(), whole)
        cut = self.folder / "cut.onnx"
        result = self.succeed("cut", tagged, "--module", "fc1", "-o", cut)
        self.assertIn("pkg.stemma.model cannot be read and is ignored", result.stderr)
        self.assertNotIn(b"pkg.stemma.model", cut.read_bytes())
        report = run("validate", tagged)
        self.assertEqual(report.returncode, 1)
        self.assertIn("[tags.damaged]", report.stdout)

    def test_a_tag_changed_by_hand_counts(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", FIXTURES / "mlp/model.onnx", "-m", FIXTURES / "mlp/modules.json", "-o",
                     tagged, "-q")
        bytes_before = tagged.read_bytes()
        key = b"pkg.stemma.module\x12\x03"
        self.assertIn(key + b"fc1", bytes_before)
        tagged.write_bytes(bytes_before.replace(key + b"fc1", key + b"fc2"))
        answer = json.loads(self.succeed("explain", tagged, "#0", "--format", "json").stdout)
        self.assertEqual(answer["answers"][0]["nodes"][0]["scope_module"], "fc2")


class Reports(Case):
    def test_tree_of_bert_tiny(self):
        fixture = FIXTURES / "bert_tiny"
        tree = json.loads(self.succeed("tree", fixture / "model.structure.onnx", "-m",
                                       fixture / "modules.json", "--format", "json").stdout)
        self.assertEqual(len(tree["modules"]), 48)
        by_path = {module["path"]: module for module in tree["modules"]}
        self.assertEqual(by_path[""]["parameter_count"], 4385920)
        self.assertEqual(by_path["embeddings"]["class"], "BertEmbeddings")
        self.assertEqual(by_path["embeddings"]["parameter_count"], 3972864)
        text = self.succeed("tree", fixture / "model.structure.onnx", "-m",
                            fixture / "modules.json").stdout
        for number in ("48 modules", "4,385,920", "3,972,864"):
            self.assertIn(number, text)

    def test_lines_stay_within_100_columns(self):
        for model, capture in models():
            for command in ("tree", "analyze"):
                for line in self.succeed(command, model, *capture).stdout.splitlines():
                    self.assertLessEqual(len(line.replace(str(model), "MODEL")), 100, line)

    def test_names_are_not_cut_where_programs_read_them(self):
        for model, capture in models():
            tree = json.loads(self.succeed("tree", model, *capture, "--format", "json").stdout)
            lines = self.succeed("tree", model, *capture, "--all").stdout.splitlines()
            names = [re.split(r"  +", line.lstrip("\u2502\u251c\u2514\u2500 "))[0].split(" ")[0] for line in lines[2:-1]]
            self.assertEqual(names, [module["path"].rsplit(".", 1)[-1] for module in tree["modules"][1:]])

    def test_columns_stay_aligned_below_short_names(self):
        path = self.folder / "deep.onnx"
        path.write_bytes((FIXTURES / "mlp" / "model.onnx").read_bytes().replace(b"/fc1/Gemm", b"/a/b/c/d/"[:9]))
        lines = self.succeed("tree", path, "--columns", "nodes").stdout.splitlines()[:-1]
        self.assertGreater(max(line.count("   ") for line in lines), 2)
        self.assertEqual({len(line) for line in lines}, {len(lines[0])})

    def test_siblings_share_a_line_when_only_their_numbers_differ(self):
        fixture = FIXTURES / "vit_b_16"
        for capture in ((), ("-m", fixture / "modules.json")):
            text = self.succeed("tree", fixture / "model.structure.onnx", *capture).stdout
            self.assertRegex(text, r" encoder_layer_0-11 .*12 x 110 nodes")
            self.assertNotIn("encoder_layer_1 ", text)
            self.assertIn("encoder_layer_1", self.succeed("tree", fixture / "model.structure.onnx", *capture, "--all").stdout)
        # Equal but for names.
        text = self.succeed("tree", FIXTURES / "bert_micro/model.onnx").stdout
        for name in ("query", "key", "value"):
            self.assertIn(f" {name} ", text)

    def test_json_is_json(self):
        for model, capture in models():
            for command in ("tree", "analyze", "tag"):
                report = json.loads(self.succeed(command, model, *capture, "--format", "json").stdout)
                self.assertTrue(report["schema"].startswith("stemma."))
            sidecar = self.folder / "sidecar.json"
            self.succeed("tag", model, *capture, "--sidecar", sidecar, "-q")
            report = json.loads(sidecar.read_text())
            self.assertEqual(report["summary"]["nodes"], len(report["nodes"]))
            if model.stem.startswith("model"):
                self.assertEqual(report["summary"]["coverage"], 1, model)
            for value in report["values"]:
                self.assertTrue(value["tags"], value)

    def test_explain_names_what_is_like_the_name(self):
        line = self.fail_with(1, "explain", FIXTURES / "bert_micro/model.onnx",
                              "/encoder/layer.0/attention/output/Ad", saying="similar: ")
        self.assertIn("/encoder/layer.0/attention/output/Add", line)

    def test_a_capture_of_another_model_is_noticed(self):
        result = self.succeed("tag", FIXTURES / "bert_micro/model.onnx", "-m",
                              FIXTURES / "resnet18/modules.json")
        self.assertIn("another model", result.stderr)
        self.assertRegex(result.stderr, r"\d+ of \d+ scopes")

    def test_accuracy_against_the_truth(self):
        fixture = FIXTURES / "control_flow"
        report = json.loads(self.succeed("tag", fixture / "model.onnx", "-m", fixture / "modules.json",
                                         "--oracle", fixture / "truth.json", "--format", "json").stdout)
        self.assertEqual(report["exact"] + report["ancestor"] + report["descendant"] +
                         report["contaminated"], 30)
        self.assertEqual(report["contaminated"], 0)


class BadInput(Case):
    def model(self, content):
        path = self.folder / "model.onnx"
        path.write_bytes(content)
        return path

    def test_files_that_are_no_models(self):
        for path, saying in ((self.folder / "missing.onnx", "No such file"),
                             (self.folder, "folder"),
                             (self.model(b""), "empty")):
            for command in ("tag", "tree", "analyze"):
                self.fail_with(3, command, path, saying=saying)
            self.fail_with(3, "strip", path, "-o", self.folder / "out.onnx", saying=saying)
        self.fail_with(3, "tree", self.model(b"just some text, not a model\n" * 20))
        generator = random.Random(1)
        for length in (1, 10, 1000, 100000):
            self.fail_with(3, "tree", self.model(generator.randbytes(length)))

    def test_files_of_other_formats_are_named(self):
        for content, saying in ((b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
                                (b"PK\3\4" + bytes(30), "zip"), (b"\x1f\x8b\x08" + bytes(30), "gunzip"),
                                (b'{"modules": []}', "JSON"), (b" \0\0\0ORTM" + bytes(30), "ORT format"),
                                (b"\x1c\0\0\0TFL3" + bytes(30), "TFLite"),
                                (b"\x0a\0\0\0\0\0\0\0" + b'{"w":{"dt"', "safetensors"),
                                (b'ir_version: 8\nproducer_name: "pytorch"\n', "text format"),
                                (b"BZh91AY&SY" + bytes(30), "bunzip2"), (b"\x28\xb5\x2f\xfd" + bytes(30), "unzstd"),
                                (b"hello world\n", "plain text"),
                                (b"this is not a model at all\n", "plain text")):
            self.fail_with(3, "tree", self.model(content), saying=saying)

    def test_unknown_words_are_refused_with_what_is_like_them(self):
        model = FIXTURES / "mlp/model.onnx"
        self.fail_with(2, "tre", model, saying="did you mean 'tree'?")
        self.fail_with(2, "tree", model, "--dept", "2", saying="did you mean '--depth'?")
        self.assertNotIn("did you mean", run("export", model, "--to", "dot", "--force").stderr)
        self.assertIn("not a number from 0 to 1", run("tag", model, "--min-confidence", "7").stderr)
        self.fail_with(2, "tree", model, "--sort", "node", saying="did you mean 'nodes'?")
        self.fail_with(2, "tree", model, "--depth", "x", saying="tree: --depth: 'x' is not a non-negative integer")
        self.fail_with(2, "analyze", model, "--rows", "-2", saying="--rows: '-2' is not a non-negative integer")
        self.fail_with(2, "export", model, "--to", "svg", "--max-nodes", "0", saying="'0' is not between 2 and 100000")
        self.fail_with(2, "tree", saying="tree: missing MODEL; see 'stemma help tree'")
        self.fail_with(2, "tree", model, "--depth", saying="--depth: missing value")
        self.fail_with(2, "query", model, "fc1", "fc2", saying="unexpected argument 'fc2'")
        self.fail_with(2, "cut", model, "fc1", saying="--module QUERY selects modules")
        self.fail_with(2, saying="missing command")
        self.fail_with(2, "--depth", "2", model, saying="options go after a command")
        self.fail_with(3, self.folder / "nowhere.onnx", saying="No such file")
        self.assertNotIn(":{", self.succeed("help", "tree").stdout)
        self.assertEqual(self.succeed("help", "help").stdout, self.succeed("help").stdout)
        self.assertEqual(self.succeed("help", "cut").stdout, self.succeed("cut", "--help").stdout)
        self.assertEqual(self.succeed("help").stdout, self.succeed("--help").stdout)
        self.fail_with(2, "help", "tre", saying="unknown command 'tre'; did you mean 'tree'?")
        self.fail_with(2, "tag", model, "--name-nodes", saying="--name-nodes requires --output")
        self.fail_with(2, "diff", model, model, "--tolerance", "-1", saying="tolerance: -1 is not a number from 0")
        self.fail_with(2, "analyze", model, "--cost", "--dim", "a=1", "--dim", "a=2", saying="already has a value")

    def test_truncated_models(self):
        whole = (FIXTURES / "bert_micro/model.onnx").read_bytes()
        for i in range(1, 64):
            path = self.model(whole[:len(whole) * i // 64])
            result = run("tag", path, "-o", self.folder / "out.onnx")
            self.assertEqual(result.returncode, 3, f"{i}/64: {result.stderr}")
            self.assertRegex(result.stderr, r"^stemma: .*model\.onnx: byte \d+: .*\n$")
            self.assertFalse((self.folder / "out.onnx").exists())

    def test_bad_usage(self):
        model = FIXTURES / "mlp/model.onnx"
        for arguments in ((), ("tag",), ("frobnicate",), ("tag", model, "--format", "xml"),
                          ("tag", model, "--min-confidence", "7")):
            self.assertEqual(run(*arguments).returncode, 2, arguments)
        self.fail_with(2, "tag", model, "-o", self.folder / "x.onnx", "--carrier", "pigeon", saying="pigeon")
        self.fail_with(2, "tag", model, "--select", "everything", saying="everything")
        self.fail_with(2, "tag", model, "--propagate", "upwards", saying="upwards")
        self.fail_with(2, "tag", model, "--naming", "poetic", saying="poetic")
        self.fail_with(2, "tag", model, "--resolve", "dice", saying="dice")
        self.fail_with(2, "validate", model, "--findings", "loud", saying="loud")
        self.fail_with(2, "split", model, "--parts", "2", "--directory", self.folder / "parts", "--cost",
                       "time", saying="time")
        self.fail_with(2, "tag", model, "--sources", "rumour", saying="rumour")

    def test_bad_captures(self):
        model = FIXTURES / "mlp/model.onnx"
        root = {"name": "", "class_name": "A", "qualified_class": "a.A", "parent": None}
        child = {"name": "x", "class_name": "B", "qualified_class": "a.B", "parent": ""}
        bad = [
            ("not json", "byte"), ("[]", "object"), ('{"modules": [', "byte"), ("{}", "no modules"),
            ({"modules": [root, root]}, "two roots"),
            ({"modules": [root, child, child]}, "listed twice"),
            ({"modules": [root, {**child, "name": "x.y", "parent": "x"}]}, "parent"),
            ({"modules": [root, {**child, "parent": "y"}]}, "contradicts its path"),
            ({"modules": [child]}, "parent"),
            ({"modules": [{"name": 7}]}, "name"),
            ({"modules": [root], "aliases": [{"alias": "b", "canonical": "nowhere"}]}, "nowhere"),
        ]
        capture = self.folder / "modules.json"
        for content, saying in bad:
            capture.write_text(content if isinstance(content, str) else json.dumps(content))
            line = self.fail_with(3, "tag", model, "-m", capture, saying=saying)
            self.assertIn(str(capture), line)
        self.fail_with(3, "tag", model, "-m", self.folder / "missing.json", saying="missing.json")

    def test_outputs_that_cannot_be_written(self):
        model = FIXTURES / "mlp/model.onnx"
        self.fail_with(4, "tag", model, "-q", "-o", self.folder / "no/such/folder.onnx")
        self.fail_with(4, "tag", model, "-q", "-o", self.folder)
        if os.path.exists("/dev/full"):
            self.fail_with(4, "tag", model, "-q", "-o", "/dev/full")
            for words in (["tree", str(model)], ["manual", "page"], ["help", "tree"], ["--version"]):
                with open("/dev/full", "w") as full:
                    result = subprocess.run([str(PROGRAM), *words], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual((words, result.returncode), (words, 4))
            with open("/dev/full", "w") as full:
                for word, status in (("missing.onnx", 3), ("--no-such-option", 2)):
                    self.assertEqual(subprocess.run([str(PROGRAM), "tree", word], stderr=full).returncode, status)
        self.fail_with(4, "probe", model, "-q", "-o", self.folder / ("long" * 70))
        self.assertEqual(os.listdir(self.folder), [])

    def test_two_outputs_are_two_files_however_they_are_spelled(self):
        model = (FIXTURES / "mlp/model.onnx").resolve()
        spellings = "out", "./out", f"{self.folder}/out", f"{self.folder}/./out"
        for first, second in itertools.permutations(spellings, 2):
            for command in (["tag", "-o", first, "--sidecar", second], ["dag", "-o", first, "--operations", second],
                            ["probe", "-o", first, "--manifest", second]):
                result = subprocess.run([os.path.abspath(PROGRAM), command[0], model, *command[1:]], cwd=self.folder,
                                        capture_output=True, text=True)
                self.assertEqual((command, result.returncode), (command, 2))
                self.assertIn("names the same file as", result.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipUnless(os.path.exists("/dev/stdout"), "no /dev/stdout")
    def test_a_model_on_standard_output_is_alone_there(self):
        model, file = FIXTURES / "mlp/model.onnx", self.folder / "out"
        folded = FIXTURES / "bert_micro/model.functions.onnx"
        self.succeed("split", model, "--depth", "1", "-d", self.folder / "parts")
        for command in (["tag", model], ["cut", model, "--module", "fc1"], ["join", self.folder / "parts"],
                        ["fold", model, "--least", "1"], ["unfold", folded], ["strip", model],
                        ["probe", model, "--manifest", self.folder / "list.json"]):
            words = [str(PROGRAM), *map(str, command)]
            with_file = subprocess.run([*words, "-o", file], capture_output=True)
            self.assertEqual(with_file.returncode, 0, with_file.stderr)
            for option in [], ["--format", "json"]:
                if option and command[0] in ("join", "unfold", "strip"):
                    continue  # which have none
                piped = subprocess.run([*words, "-o", "/dev/stdout", *option], capture_output=True)
                self.assertEqual(piped.returncode, 0, piped.stderr)
                self.assertEqual((command, piped.stdout == file.read_bytes()), (command, True))
                if option:
                    json.loads(piped.stderr)
            if with_file.stdout:
                self.assertTrue(piped.stderr)
        with file.open("wb") as out:
            done = subprocess.run([PROGRAM, "tag", model, "-o", "/dev/stdout"], stdout=out, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"written", done.stderr)
        self.succeed("validate", file, "--no-checker")

    @unittest.skipUnless(os.path.exists("/dev/stdout"), "no /dev/stdout")
    def test_standard_output_takes_one_output_and_has_no_manifest_beside_it(self):
        model = FIXTURES / "mlp/model.onnx"
        self.fail_with(2, "dag", model, "--operations", "/dev/stdout", saying="names the same file")
        self.fail_with(2, "tag", model, "-o", "/dev/stdout", "--sidecar", "/dev/stdout", saying="names the same file")
        for name in "stdout", "null":
            (self.folder / name).symlink_to("/dev/" + name)
            self.fail_with(2, "probe", model, "-o", self.folder / name, saying="requires --manifest")
        self.assertEqual(sorted(os.listdir(self.folder)), ["null", "stdout"])

    def test_graphs_that_break_the_rules(self):
        """Best effort with a warning: an undefined value, a cycle made by renaming, no opset."""
        whole = (FIXTURES / "mlp/model.onnx").read_bytes()
        # The first node reads its own output: a cycle and nothing defined.
        broken = whole.replace(b"\x0a\x01x\x0a", b"\x0a\x01y\x0a", 1)
        self.assertNotEqual(broken, whole)
        result = run("tag", self.model(broken))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_killed_while_writing(self):
        """The old file stays, and no other appears."""
        weights = self.folder / "big.onnx"
        model = (FIXTURES / "bert_micro/model.onnx").read_bytes()
        # An unknown field of 400 MB after the model slows writing down.
        size = 400 << 20
        length = b""
        while size >= 0x80:
            length += bytes([size & 0x7f | 0x80])
            size >>= 7
        length += bytes([size])
        with open(weights, "wb") as file:
            file.write(model + b"\xaa\x7d" + length)
            file.truncate(len(model) + 2 + len(length) + (400 << 20))
        output = self.folder / "out.onnx"
        output.write_bytes(b"precious")
        for delay in (0.01, 0.05, 0.1, 0.2):
            process = subprocess.Popen([str(PROGRAM), "tag", str(weights), "-o", str(output), "-q"])
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if process.returncode == -signal.SIGKILL:
                self.assertEqual(output.read_bytes(), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["big.onnx", "out.onnx"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
