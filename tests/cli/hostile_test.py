#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the stemma program on invalid models and captures, and on full disks.

usage: hostile_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import unicodedata
import unittest

from program_test import CARRIERS, FIXTURES, PROGRAM, Case, run, without_names


def varint(number):
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(encoded + bytes([number]))


def field(number, content):
    """A protobuf field: of a number, or of bytes or text with their length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def node(op_type, inputs, outputs, name="", bodies=()):
    fields = [field(1, value) for value in inputs] + [field(2, value) for value in outputs]
    fields += [field(3, name)] if name else []
    fields.append(field(4, op_type))
    fields += [field(5, field(1, which) + field(6, body) + field(20, 5))
               for which, body in zip(("then_branch", "else_branch"), bodies)]
    return b"".join(fields)


def graph(nodes, inputs=("x",), outputs=("y",), initializers=()):
    return b"".join([field(1, each) for each in nodes] + [field(2, "net")] +
                    [field(5, field(1, 1) + field(2, 1) + field(8, name) + field(9, b"four"))
                     for name in initializers] +
                    [field(11, field(1, name)) for name in inputs] +
                    [field(12, field(1, name)) for name in outputs])


def model(main_graph, opset=True):
    return field(1, 8) + (field(8, field(1, "") + field(2, 17)) if opset else b"") + \
        field(7, main_graph)


# Models that parse but are meaningless or ambiguous.
ODD_MODELS = {
    "a cycle": model(graph([node("Add", ["x", "b"], ["a"], "/enc/fc/Add"),
                            node("Relu", ["a"], ["b"], "/enc/act/Relu"),
                            node("Relu", ["b"], ["y"], "/dec/Relu")])),
    "a node that reads itself": model(graph([node("Relu", ["y"], ["y"], "/enc/Relu")])),
    "a value made twice": model(graph([node("Relu", ["x"], ["v"], "/a/Relu"),
                                       node("Tanh", ["x"], ["v"], "/b/Tanh"),
                                       node("Relu", ["v"], ["y"], "/c/Relu")])),
    "a value that is an input, too": model(graph([node("Relu", ["x"], ["x"], "/a/Relu"),
                                                  node("Relu", ["x"], ["y"], "/b/Relu")])),
    "one name for all nodes": model(graph([node("Relu", ["x"], ["v"], "/a/Relu"),
                                           node("Relu", ["v"], ["y"], "/a/Relu")])),
    "nodes without names": model(graph([node("Relu", ["x"], ["v"]), node("Relu", ["v"], ["y"])])),
    "a value that nothing makes": model(graph([node("Add", ["x", "gone"], ["y"], "/a/Add")])),
    "a captured value that does not exist": model(graph([
        node("If", ["x"], ["y"], "/a/If",
             [graph([node("Relu", ["gone"], ["t"], "/a/Relu")], (), ("t",)),
              graph([node("Relu", ["x"], ["e"], "/b/Relu")], (), ("e",))])])),
    "branches whose results have no type": model(graph([
        node("If", ["x"], ["v"], "/a/If",
             [graph([node("Relu", ["x"], ["t"], "/a/Relu")], (), ("t",)),
              graph([node("Tanh", ["x"], ["e"], "/a/Tanh")], (), ("e",))]),
        node("Relu", ["v"], ["y"], "/b/Relu")])),
    "nodes in reverse order": model(graph([node("Relu", ["v"], ["y"], "/b/Relu"),
                                           node("Relu", ["x"], ["v"], "/a/Relu")])),
    "no opset": model(graph([node("Relu", ["x"], ["y"], "/a/Relu")]), opset=False),
    "no nodes": model(graph([], (), ())),
    "an unknown operator": model(graph([node("Frobnicate", ["x"], ["y"], "/a/Frobnicate")])),
    "names that are no text": model(graph([node("Relu", ["x"], ["y"],
                                                b"/a\xff\x00\x1b[31m/Relu")])),
    "names that a terminal obeys": model(graph([node("Relu", ["x"], ["y"],
                                                     "/a\x1b]0;title\x07\x9b2J\u202egpj/Relu")])),
    "an initializer twice": model(graph([node("Add", ["x", "w"], ["y"], "/a/Add")],
                                        initializers=("w", "w"))),
}


MICRO = FIXTURES / "bert_micro" / "model.onnx"


def on_terminal(*arguments, colours=False):
    """Output of a successful command to a terminal."""
    primary, secondary = pty.openpty()
    # A kernel may lose output written just before the last descriptor of this end is closed, so one
    # stays open until a final mark has arrived.
    end = b"\0end of output\0"
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=secondary, stderr=secondary,
                               env=dict({key: value for key, value in os.environ.items() if key != "NO_COLOR"},
                                        TERM="xterm", PAGER="cat", **({} if colours else {"NO_COLOR": "1"})))

    def mark_end():
        process.wait()
        os.write(secondary, end)

    marker = threading.Thread(target=mark_end)
    marker.start()
    said = b""
    while not said.endswith(end):
        said += os.read(primary, 65536)
    marker.join()
    os.close(secondary)
    os.close(primary)
    if process.returncode not in (0, 1):
        raise AssertionError(f"{arguments}: exit code {process.returncode}: {said!r}")
    return said[:-len(end)].decode()


# What changes more on a terminal than the place of the next character.
OBEYED = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"


class OddModels(Case):
    """Best effort: all commands answer, and `strip` removes what `tag` writes."""

    def setUp(self):
        super().setUp()
        self.file = self.folder / "odd.onnx"

    def succeed(self, *arguments):
        """Messages may quote names that are not text."""
        result = run(*arguments, errors="replace")
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result

    def test_every_command_answers(self):
        for what, content in ODD_MODELS.items():
            with self.subTest(what):
                self.file.write_bytes(content)
                for command in ("tree", "analyze", "tag"):
                    self.succeed(command, self.file)
                    json.loads(self.succeed(command, self.file, "--format", "json").stdout)
                self.succeed("query", self.file, "")
                self.assertIn(run("explain", self.file, "#0", errors="replace").returncode, (0, 1))
                self.assertIn(run("validate", self.file, errors="replace").returncode, (0, 1))

    def test_every_command_that_writes_answers_or_refuses(self):
        out = self.folder / "out"
        commands = [("cut", self.file, "--all", "-d", out), ("split", self.file, "--parts", "2", "-d", out),
                    ("fold", self.file, "-o", out), ("unfold", self.file, "-o", out),
                    ("compare", self.file, self.file), ("dag", self.file)]
        commands += [("export", self.file, "--to", to, "-o", out)
                     for to in ("graphml", "dot", "html", "model-explorer")]
        for what, content in ODD_MODELS.items():
            self.file.write_bytes(content)
            for command in commands:
                with self.subTest(f"{what}, {command[0]}"):
                    result = run(*command, errors="replace")
                    self.assertIn(result.returncode, range(5), result.stderr)
                    for line in result.stderr.splitlines():
                        self.assertTrue(line.startswith("stemma: "), line)
                if out.is_dir():
                    shutil.rmtree(out)
                out.unlink(missing_ok=True)

    def test_tags_go_in_and_out(self):
        tagged, stripped = self.folder / "tagged.onnx", self.folder / "stripped.onnx"
        for what, content in ODD_MODELS.items():
            self.file.write_bytes(content)
            for carrier in CARRIERS:
                with self.subTest(f"{what}, {carrier}"):
                    self.succeed("tag", self.file, "-o", tagged, "--carrier", carrier, "-q")
                    self.succeed("tag", tagged, "-o", tagged, "--carrier", carrier, "-q")
                    once = tagged.read_bytes()
                    self.succeed("tag", tagged, "-o", tagged, "--carrier", carrier, "-q")
                    self.assertEqual(tagged.read_bytes(), once)
                    self.succeed("strip", tagged, "-o", stripped, "-q")
                    self.assertEqual(stripped.read_bytes(), content)

    def test_a_file_without_a_graph_is_no_model(self):
        self.file.write_bytes(field(1, 8))
        self.fail_with(3, "tree", self.file, saying="no graph")

    def test_messages_hold_nothing_that_a_terminal_obeys(self):
        self.file.write_bytes(ODD_MODELS["names that are no text"])
        result = self.succeed("tree", self.file)
        self.assertNotIn("\x1b", result.stderr)
        self.assertNotIn("\x00", result.stderr)

    def test_texts_hold_nothing_that_a_terminal_obeys_but_shades(self):
        self.file.write_bytes(ODD_MODELS["names that a terminal obeys"])
        name = "/a\x1b]0;title\x07\x9b2J\u202egpj/Relu"
        commands = [("tree", self.file), ("analyze", self.file),
                    ("explain", self.file, "#0"), ("query", self.file, "op:Relu"),
                    ("query", self.file, "is:leaf", "--list", "modules"),
                    ("compare", self.file, MICRO),
                    ("analyze", self.file, "--format", "csv", "--table", "modules")]
        for command in commands:
            with self.subTest(command):
                said = re.sub("\x1b\\[[0-9]*m", "", on_terminal(*command))
                self.assertIn("\ufffd", said)
                self.assertIsNone(re.search(OBEYED, said), repr(said))
        # Machine-readable output has the exact text of the file.
        self.assertEqual(self.succeed("query", self.file, "op:Relu").stdout, name + "\n")
        for command in commands[:3]:
            self.assertNotIn("\x1b", run(*command).stdout)

    def test_colours_in_names_are_no_shades(self):
        self.file.write_bytes(model(graph([node("Relu", ["x"], ["y\x1b[31m"], "/a\x1b[31mb/Relu")])))
        for command in [("tree", self.file), ("analyze", self.file), ("explain", self.file, "#0", "a\x1b[31mb"),
                        ("query", self.file, "op:Relu"), ("tag", self.file, "-o", self.folder / "o.onnx", "--force")]:
            with self.subTest(command):
                said = on_terminal(*command, colours=True)
                self.assertNotIn("a\x1b", said)
                self.assertNotIn("y\x1b[31m", said)
        said = on_terminal("explain", self.file, "#0", colours=True)
        self.assertIn("a\ufffd[31mb", said)
        self.assertIn("\x1b[1m/a\ufffd[31mb/Relu (#0)\x1b[0m", said)

    def test_a_name_with_a_line_break_is_shown_in_one_line(self):
        self.file.write_bytes(model(graph([node("Relu", ["x"], ["y\tz"], "/a\nb\tc/Relu")])))
        for command in [("tree",), ("analyze",), ("explain", "#0"), ("explain", "a\nb\tc"), ("explain", "y\tz"),
                        ("query", "", "--list", "modules"), ("query", "a*", "--list", "modules"), ("profile",)]:
            if command == ("profile",):
                times = self.folder / "times.csv"
                times.write_text('name,time\n"/a\nb\tc/Relu",2\n')
                command = ("profile", times)
            with self.subTest(command):
                shown = self.succeed(command[0], self.file, *command[1:]).stdout
                self.assertTrue(any("a b c" in line for line in shown.splitlines())
                                or command[1:] == ("y\tz",), shown)
                self.assertNotIn("\t", shown)

    def test_lists_of_names_have_one_on_each_line(self):
        self.file.write_bytes(model(graph([node("Relu", ["x"], ["v"], "/a\nb/Relu"),
                                           node("Relu", ["v"], ["y"], "/c/Relu")])))
        listed = self.succeed("query", self.file, "op:Relu")
        self.assertEqual(listed.stdout.splitlines(), ["#0", "/c/Relu"])
        self.assertIn("1 node with line breaks in the name", listed.stderr)
        words = self.succeed("manual", "words", self.file, "--begin", "/", "--names").stdout
        self.assertIn("/c/Relu", words.splitlines())
        self.assertNotIn("b/Relu", words.splitlines())

    def test_columns_stay_in_line_behind_wide_and_joined_characters(self):
        names = ["plain", "\u65e5\u672c\u8a9e", "emoji\U0001f600", "e\u0301\u200bx", "\uac00\uff21", "\u0e01\u0e34"]
        self.file.write_bytes(model(graph([node("Relu", [f"v{i}"], [f"v{i + 1}"], f"/{name}/Relu")
                                           for i, name in enumerate(names)], ["v0"], ["v6"])))

        def cells(text):
            return sum(0 if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Cf") else
                       2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
        lines = [line for line in self.succeed("tree", self.file).stdout.splitlines() if line.endswith("Relu 1")]
        self.assertEqual(len(lines), len(names))
        self.assertEqual(len({cells(line) for line in lines}), 1, lines)

    def test_lines_of_deep_trees_fit_on_a_terminal(self):
        scopes = ["/".join(["sub"] * depth + ["leaf"]) for depth in range(1, 40)]
        self.file.write_bytes(model(graph([node("Relu", [f"v{i}"], [f"v{i + 1}"], f"/{scope}/Relu")
                                           for i, scope in enumerate(scopes)], ["v0"], ["v39"])))
        lines = on_terminal("tree", self.file).splitlines()
        self.assertGreater(len(lines), 80)
        self.assertLessEqual(max(map(len, lines)), 100)  # of a terminal that does not tell its width
        self.assertRegex(lines[-2], "^\u2026[0-9]+ +\u2514\u2500 leaf +1 ")

    def test_what_is_wrong_is_said(self):
        for what, saying in (("a cycle", "later node"), ("a value made twice", "more than once"),
                             ("a value that nothing makes", "gone"),
                             ("a captured value that does not exist", "gone"),
                             ("no opset", "opset")):
            self.file.write_bytes(ODD_MODELS[what])
            result = run("validate", self.file)
            self.assertEqual(result.returncode, 1, f"{what}: {result.stdout}")
            self.assertIn(saying, result.stdout, what)

    def test_no_output_replaces_weights_of_the_model(self):
        far = field(1, 1) + field(2, 1) + field(8, "w") + field(14, 1) + \
            field(13, field(1, "location") + field(2, "w.bin"))
        nodes = [node("Add", ["x", "w"], ["v"], "/enc/Add"), node("Relu", ["v"], ["y"], "/dec/Relu")]
        self.file.write_bytes(model(graph(nodes) + field(5, far)))
        weights, out = self.folder / "w.bin", self.folder / "out"
        weights.write_bytes(b"four")
        for command in (["tag", self.file, "-o", weights], ["tag", self.file, "--sidecar", weights],
                        ["export", self.file, "--to", "dot", "-o", weights],
                        ["export", self.file, "--to", "model-explorer", "-o", out, "--node-counts", weights],
                        ["dag", self.file, "-o", weights],
                        ["dag", self.file, "-o", out, "--operations", weights],
                        ["probe", self.file, "-o", out, "--manifest", weights]):
            self.fail_with(2, *command, saying="has weights of")
            self.assertEqual(weights.read_bytes(), b"four")
            self.assertFalse(out.exists())

    def test_no_output_replaces_what_is_read_or_another_output(self):
        self.file.write_bytes(MICRO.read_bytes())
        link, out = self.folder / "link.onnx", self.folder / "out"
        link.symlink_to(self.file)
        for command in (["cut", self.file, "--module", "pooler", "-o", self.file],
                        ["export", link, "--to", "dot", "-o", self.file],
                        ["tag", self.file, "-o", out, "--sidecar", link],
                        ["dag", self.file, "-o", out, "--operations", self.file]):
            self.fail_with(2, *command, saying="would overwrite an input file")
        self.fail_with(2, "tag", self.file, "-o", out, "--sidecar", out, saying="names the same file as --output")
        capture = self.folder / "modules.json"
        capture.write_bytes((MICRO.parent / "modules.json").read_bytes())
        other = self.folder / "other.onnx"
        other.write_bytes(MICRO.read_bytes())
        for command, read in ((["tag", self.file, "-m", capture, "-o", capture], "--modules"),
                              (["cut", self.file, "-m", capture, "--module", "pooler", "-o", capture], "--modules"),
                              (["diff", self.file, other, "--format", "json", "-o", other], "OTHER"),
                              (["carry", other, self.file, "-o", other], "ORIGINAL"),
                              (["patch", self.file, "--weights", capture, "-o", capture], "--weights")):
            self.fail_with(2, *command, saying=f"would overwrite an input file: {read}")
        self.assertEqual(other.read_bytes(), MICRO.read_bytes())
        parts = self.folder / "parts"
        self.succeed("split", self.file, "--parts", "2", "-d", parts)
        before = {path: path.read_bytes() for path in parts.iterdir()}
        for path in before:
            self.fail_with(2, "join", parts, "-o", path, saying="is a file of the split model itself")
        self.assertEqual({path: path.read_bytes() for path in parts.iterdir()}, before)
        self.assertFalse(out.exists())
        self.assertEqual(self.file.read_bytes(), MICRO.read_bytes())
        self.succeed("tag", self.file, "-o", self.file, "-q")
        self.succeed("strip", link, "-o", self.file, "-q")
        self.assertEqual(self.file.read_bytes(), MICRO.read_bytes())
        self.succeed("tag", self.file, "-o", "/dev/null", "--sidecar", "/dev/null", "-q")

    def test_an_output_has_a_name(self):
        self.file.write_bytes(MICRO.read_bytes())
        self.fail_with(2, "tag", self.file, "-o", "", saying="--output: is empty")
        self.fail_with(2, "split", self.file, "--parts", "2", "-d", "", saying="--directory: is empty")
        self.fail_with(2, "strip", self.file, "-o", "-", saying="--output: '-' is not a file")

    def test_options_that_would_have_no_effect_are_errors(self):
        for words, saying in (
                (["analyze", "--table", "modules"], "--table: requires --format csv"),
                (["analyze", "--format", "csv", "--cost", "--table", "weights"], "--table: of --cost lists"),
                (["analyze", "--format", "csv", "--table", "nodes"], "--table: nodes requires --cost"),
                (["analyze", "--format", "json", "--rows", "3"], "--rows: requires --format text"),
                (["analyze", "--dim", "batch=1"], "--dim: requires --cost"),
                (["tree", "--columns", "nodes", "--format", "json"], "--columns: requires --format text"),
                (["query", "op:Add", "--dim", "batch=1"], "--dim: requires --sort"),
                (["tag", "--sidecar", self.folder / "s.json", "--with", "parameters"], "--with: parameters requires -o"),
                (["compare", self.file, "--rows", "3", "--format", "json"], "--rows: requires --format text"),
                (["validate", "--rows", "3", "--format", "json"], "--rows: requires --format text"),
                (["numerics", self.file, "--values", self.file, "--force"], "--force: requires --isolate"),
                (["explain", "fc1", "--source-root", ".", "--format", "json"], "--source-root: requires --format text"),
                (["analyze", "--oracle", "truth.json", "--format", "csv"], "--oracle: does not apply to --format csv"),
                (["diff", self.file, "--nodes", "--format", "html"], "--nodes: requires --format text or json"),
                (["diff", self.file, "--no-sync"], "--no-sync: requires -o"),
                (["split", "--parts", "2", "--merge", "-d", self.folder / "parts"], "--merge: does not apply to --parts"),
                (["patch", "--lora", "a", "--partial", "-o", self.folder / "out"], "--partial: requires --weights"),
                (["profile", self.file, "--to", "flame", "--rows", "3"], "--rows: requires --format text"),
                (["split", "--parts", "2", "-d", self.folder / "parts", "--dim", "batch=1"], "--dim: requires --cost"),
                (["export", "--to", "dot", "--flat"], "--flat: requires --to graphml"),
                (["export", "--to", "html", "--column", "time"], "--column: requires --to dot|svg"),
                (["plan", "--exclude", "op:Add", "--depth", "2"], "--depth: requires --placement"),
                (["plan", "--exclude", "op:Add", "--top", "2"], "--top: requires --from"),
                (["diff", self.file, "-o", self.folder / "text"], "--output: does not apply to text"),
                (["profile", self.file, "--to", "flame", "--format", "csv"], "--format: does not apply to --to")):
            self.fail_with(2, words[0], self.file, *words[1:], saying=saying)

    def test_no_part_has_nodes_on_a_cycle(self):
        self.file.write_bytes(ODD_MODELS["a cycle"])
        out = self.folder / "out"
        for command in (["split", "--parts", "2", "-d"], ["fold", "-o"]):
            result = run(command[0], self.file, *command[1:], out)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(f"{self.file}: the main graph has a cycle", result.stderr)
        result = run("cut", self.file, "--module", "enc.fc", "-o", out)
        self.assertIn("on a cycle, or after one", result.stderr)
        self.assertFalse(out.exists())
        result = run("cut", self.file, "--all", "-d", out)
        cuts = json.loads((out / "index.json").read_text())["cuts"]
        self.assertEqual({cut["reason"] for cut in cuts}, {"cycle"})


class BadCaptures(Case):
    MODEL = FIXTURES / "mlp/model.onnx" if FIXTURES else None

    def test_captures_that_contradict_themselves(self):
        root = {"name": "", "class_name": "A", "qualified_class": "a.A", "parent": None}

        def module(name, parent):
            return {"name": name, "class_name": "B", "qualified_class": "a.B", "parent": parent}
        capture = self.folder / "modules.json"
        for what, modules, aliases in (
                ("its own parent", [root, module("a", "a")], []),
                ("two that hold each other", [root, module("a", "a.b"), module("a.b", "a")], []),
                ("a parent that is not there", [root, module("a.b", "a")], []),
                ("two roots", [root, root], []),
                ("no root", [module("a", "")], []),
                ("a module twice", [root, module("a", ""), module("a", "")], []),
                ("aliases in a cycle", [root, module("a", "")],
                 [{"alias": "b", "canonical": "c"}, {"alias": "c", "canonical": "b"}])):
            with self.subTest(what):
                capture.write_text(json.dumps({"modules": modules, "aliases": aliases}))
                line = self.fail_with(3, "tag", self.MODEL, "-m", capture)
                self.assertIn("modules.json", line)

    def test_captures_that_end_early(self):
        for name in ("modules.json", "trace.json", "fx.json"):
            whole = (FIXTURES / "mlp" / name).read_bytes().rstrip()
            capture = self.folder / name
            for i in range(64):
                capture.write_bytes(whole[:len(whole) * i // 64])
                self.fail_with(3, "tag", self.MODEL, "-m", capture, saying=name)

    def test_files_that_are_no_captures(self):
        random_bytes = self.folder / "random"
        random_bytes.write_bytes(random.Random(2).randbytes(5000))
        deep = self.folder / "deep"
        deep.write_text("[" * 200000)
        deep_keys = self.folder / "deep_keys"
        deep_keys.write_text('{"modules":' * 100000)
        for path in (random_bytes, deep, deep_keys, self.folder):
            self.fail_with(3, "tag", self.MODEL, "-m", path)

    def test_a_capture_of_another_model_says_how_much_of_it_fits(self):
        for other in ("resnet18", "gpt2_tiny"):
            result = self.succeed("tag", FIXTURES / "bert_micro/model.onnx", "-m",
                                  FIXTURES / other / "modules.json")
            self.assertRegex(result.stderr, r"\d+ of \d+")


class FullDisks(Case):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model.onnx"
        shutil.copy(FIXTURES / "bert_micro/model.onnx", self.model)

    def test_a_limit_on_files_is_a_full_disk(self):
        """An existing file stays, and no other appears."""
        output = self.folder / "out.onnx"
        output.write_bytes(b"precious")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        for command in (["tag", self.model, "-o", output, "-q"],
                        ["strip", self.model, "-o", output, "-q"],
                        ["tag", self.model, "-o", self.model, "-q"]):
            before = self.model.read_bytes()
            result = run(*command, preexec_fn=limit)
            self.assertEqual(result.returncode, 4, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertEqual(output.read_bytes(), b"precious")
            self.assertEqual(self.model.read_bytes(), before)
            self.assertEqual(sorted(os.listdir(self.folder)), ["model.onnx", "out.onnx"])

    def test_a_full_disk(self):
        """A separate small file system, if the system permits users to mount one."""
        disk = self.folder / "disk"
        disk.mkdir()
        script = (f"mount -t tmpfs -o size=128k none '{disk}' || exit 99; echo old > '{disk}/out.onnx'\n"
                  f"'{PROGRAM}' tag '{self.model}' -o '{disk}/out.onnx' -q; echo $?\n"
                  f"cat '{disk}/out.onnx'; ls -A '{disk}'")
        if shutil.which("unshare") is None:
            self.skipTest("no unshare")
        result = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True,
                                text=True, timeout=60)
        if result.returncode == 99 or "unshare" in result.stderr:
            self.skipTest("no file system of one's own")
        self.assertEqual(result.stdout.split(), ["4", "old", "out.onnx"], result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)


@unittest.skipIf(shutil.which("strace") is None, "strace is not installed")
class PowerFailures(Case):
    def calls(self, *options):
        """Tags a model with weights in another file, and copies them. Returns: what is synced and put in place."""
        there = self.folder / "there"
        shutil.rmtree(there, ignore_errors=True)
        there.mkdir()
        (self.folder / "weights.bin").write_bytes(b"four")
        place = field(13, field(1, "location") + field(2, "weights.bin"))
        weights = field(5, field(1, 1) + field(2, 1) + field(8, "w") + place + field(14, 1))
        path = self.folder / "model.onnx"
        path.write_bytes(model(graph([node("Add", ["x", "w"], ["y"])]) + weights))
        log = self.folder / "calls"
        done = subprocess.run(["strace", "-f", "-o", log, "-e", "trace=fsync,linkat", PROGRAM, "tag", path, "-o",
                               there / "model.onnx", "--data", "copy", *options], capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((there / "weights.bin").read_bytes(), b"four")
        return [call for call, result in re.findall(r"(\w+)\(.*\) += (-?\d+)", log.read_text()) if result == "0"]

    def test_copied_weights_are_on_the_medium_before_the_model_that_refers_to_them(self):
        self.assertEqual(self.calls(), ["fsync", "linkat", "fsync", "fsync", "linkat", "fsync"])
        self.assertEqual(self.calls("--no-sync"), ["linkat", "linkat"])


class OutputIsInput(Case):
    def test_through_links_of_either_kind(self):
        original = (FIXTURES / "bert_micro/model.onnx").read_bytes()
        for link in (os.link, os.symlink):
            with self.subTest(link.__name__):
                model, other = self.folder / "model.onnx", self.folder / "other.onnx"
                model.write_bytes(original)
                link(model, other)
                self.succeed("tag", model, "-o", other, "-q")
                self.succeed("strip", other, "-o", self.folder / "back.onnx", "-q")
                self.assertEqual((self.folder / "back.onnx").read_bytes(), original)
                self.succeed("strip", other, "-o", model, "-q")
                self.assertEqual(model.read_bytes(), original)
                for path in (model, other):
                    path.unlink()


class TaggedFilesAlone(Case):
    def test_say_what_all_parts_of_a_capture_told(self):
        """Without names, the origin of nodes comes from trace and FX graph."""
        tagged = self.folder / "tagged.onnx"
        for fixture in ("bert_micro", "control_flow", "two_tower"):
            folder = FIXTURES / fixture
            parts = [part for name in ("modules.json", "trace.json", "fx.json")
                     if (folder / name).exists() for part in ("-m", folder / name)]
            for name in ("anonymous.onnx", "unnamed.onnx"):
                original = folder / name
                asked = (["tree"], ["analyze"], ["query", "from:trace or from:fx"],
                         ["explain", "#0", "#7", "#19"])
                wanted = {}
                for command, *arguments in asked:
                    for form in ("text", "json"):
                        if command != "query" or form == "json":
                            result = run(command, original, *arguments, "--format", form, *parts)
                            wanted[command, form] = (arguments,
                                                     without_names(result.stdout, original))
                for carrier in CARRIERS:
                    self.succeed("tag", original, *parts, "-o", tagged, "--carrier", carrier, "-q")
                    for (command, form), (arguments, expected) in wanted.items():
                        result = run(command, tagged, *arguments, "--format", form)
                        self.assertEqual(without_names(result.stdout, tagged), expected,
                                         f"{command} of {original}, carrier {carrier}")

    def test_give_the_same_graph_of_modules(self):
        tagged = self.folder / "tagged.onnx"
        for fixture in ("bert_micro", "control_flow", "shared_twice", "two_tower", "quirks"):
            model = FIXTURES / fixture / "model.onnx"
            capture = ["-m", model.parent / "modules.json"]
            for carrier in ("metadata", "model"):
                self.succeed("tag", model, *capture, "-o", tagged, "--carrier", carrier, "-q")
                for selection in ("default", "all"):
                    written = []
                    for arguments in ([model, *capture], [tagged]):
                        outputs = [self.folder / "dag.json", self.folder / "operations.json"]
                        self.succeed("dag", *arguments, "-o", outputs[0], "--operations",
                                     outputs[1], "--select", selection, "--multi", "-q")
                        written.append([output.read_bytes() for output in outputs])
                    self.assertEqual(written[0], written[1], (fixture, carrier, selection))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
