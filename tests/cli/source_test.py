#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads, writes and queries the Python lines that nodes come from.

usage: source_test.py PROGRAM FIXTURES [unittest arguments]

Models are written here byte by byte, with stacks like those of exporters.
"""
import json
import pathlib
import sys
import tempfile
import unittest

from program_test import FIXTURES, Case, run

ROOT = "/srv/someone/work"


def varint(number):
    out = bytearray()
    while True:
        out.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def model(nodes):
    """A chain of Relu nodes, given as (name, doc_string, {metadata}) each."""
    graph, before = b"", "x"
    for number, (name, doc, metadata) in enumerate(nodes):
        fields = field(1, before) + field(2, f"v{number}") + field(3, name) + field(4, "Relu")
        fields += field(6, doc) if doc else b""
        for key, value in metadata.items():
            fields += field(9, field(1, key) + field(2, value))
        graph += field(1, fields)
        before = f"v{number}"
    tensor = field(1, field(1, 1) + field(2, field(1, field(1, 2))))
    graph += field(2, "g") + field(11, field(1, "x") + field(2, tensor)) + field(12, field(1, before) + field(2, tensor))
    return field(1, 10) + field(7, graph) + field(8, field(1, "") + field(2, 18))


def traceback(*frames):
    return "".join(f'  File "{file}", line {line}, in forward\n    {text}\n' for file, line, text in frames)[2:-1]


LINEAR = (f"{ROOT}/venv/lib/python3.13/site-packages/torch/nn/modules/linear.py", 125, "return F.linear(input)")
NET, BLOCK = f"{ROOT}/app/net.py", f"{ROOT}/app/block.py"


def stack(*frames):
    return {"pkg.torch.onnx.stack_trace": traceback(*frames)}


NODES = [("a", "", stack((NET, 2, "x = self.block(x)"), (BLOCK, 4, "y = self.fc(x)"), LINEAR)),
         ("b", "", stack((NET, 3, "return y + x"))),
         ("c", f"{ROOT}/app/block.py(4): forward\n{ROOT}/venv/torch/jit/_trace.py(1): f\n{ROOT}/export.py(9): <module>\n", {}),
         ("d", "", {})]


class SourceTest(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "model.onnx"
        self.model.write_bytes(model(NODES))

    def source(self, path, node, *options):
        answer = json.loads(run("explain", path, node, "--format", "json", *options).stdout)
        place = answer["answers"][0]["nodes"][0].get("source")
        return place and f"{place['file']}:{place['line']}"

    def sources(self, path):
        return [self.source(path, f"#{number}") for number in range(4)]

    def query(self, asked, status=0):
        done = run("query", self.model, asked)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.split() if status == 0 else done.stderr

    def test_lines_are_read_of_all_formats(self):
        self.assertEqual(self.sources(self.model), ["block.py:4", "net.py:3", "block.py:4", None])
        text = run("explain", self.model, "a").stdout
        self.assertIn("block.py:4 in forward", text)
        self.assertIn("torch/nn/modules/linear.py:125", text)
        self.assertIn("net.py:2 in forward", text)
        self.assertNotIn(ROOT, text)

    def test_exported_models_have_their_true_lines(self):
        folder = FIXTURES.parent / "source"
        truth = json.loads((folder / "truth.json").read_text())
        operators = []
        for model, capture in (("traced.onnx", []), ("plain.onnx", ["-m", folder / "plain.capture.json"])):
            sidecar = self.folder / "tags.json"
            done = run("tag", folder / model, *capture, "--with", "source", "--sidecar", sidecar)
            self.assertEqual(done.returncode, 0, done.stderr)
            nodes = json.loads(sidecar.read_text())["nodes"]
            for node in nodes:
                if node["op_type"] in truth:
                    self.assertIn(node["source"]["line"], truth[node["op_type"]], node)
            operators.append([node.get("source", {}).get("line") for node in nodes])
            self.assertNotIn("someone", sidecar.read_text())
        self.assertEqual(*operators)
        self.assertEqual({line for lines in truth.values() for line in lines} - set(operators[0]), set())
        shown = run("explain", folder / "traced.onnx", "/Split", "--source-root", folder).stdout
        self.assertIn("rows = [part.mean(-1)", shown)

    def test_the_text_of_a_line_is_shown_from_one_folder_only(self):
        (self.folder / "block.py").write_text("1\n2\n3\n    y = self.fc(x)\n")
        (self.folder / "net.py").write_text("1\n2\nreturn y - x\n")
        shown = run("explain", self.model, "a", "b", "--source-root", self.folder).stdout
        self.assertIn("y = self.fc(x)", shown)
        self.assertIn("the line has changed since", shown)
        self.assertNotIn("return y", shown)
        self.assertNotIn("self.fc", run("explain", self.model, "a").stdout)
        self.assertIn("may have changed", run("explain", self.model, "c", "--source-root", self.folder).stdout)
        done = run("explain", self.model, "a", "--source-root", self.folder / "none")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not a folder", done.stderr)

    def test_queries_know_lines(self):
        self.assertEqual(self.query("line:block.py:4"), ["a", "c"])
        self.assertEqual(self.query("line:net.py:1-3"), ["b"])
        self.assertEqual(self.query("line:{net,block}.py"), ["a", "b", "c"])
        self.assertEqual(self.query(f"line:{BLOCK}:4"), ["a", "c"])
        self.assertEqual(self.query("not line:**"), ["d"])
        self.assertIn("the nearest line of 'net.py' is 3", self.query("line:net.py:1", 1))
        self.assertIn("files with similar names: 'net.py'", self.query("line:nat.py", 1))
        for asked, why in (("line:120", "missing file before the line"), ("line:a.py:x", "'x' is not a line"),
                           ("line:a.py:9-3", "ends before it begins"), ("line:a.py:0", "'0' is not a line"),
                           ("line:a.py:", "is not a line"), ("line:a.py:1-", "is not a line"),
                           ("line:", "expected a term"), ("class:A[line:a.py]", "is a node term")):
            self.assertIn(why, self.query(asked, 2))

    def test_lines_are_listed(self):
        done = run("analyze", self.model, "--by", "line", "--format", "csv")
        self.assertEqual(done.stdout, "file,line,function,nodes\nblock.py,4,forward,2\nnet.py,3,forward,1\n,0,,1\n")
        self.assertIn("block.py:4", run("analyze", self.model, "--by", "line", "--cost").stdout)
        self.assertEqual(run("analyze", self.model, "--by", "line", "--filter", "op:Nothing").returncode, 1)

    def test_times_of_lines(self):
        times = self.folder / "times.csv"
        times.write_text("name,time (us)\na,4\nb,1\nc,2\n")
        done = run("profile", self.model, times, "--by", "line", "--format", "csv")
        self.assertEqual(done.stdout, "file,line,function,nodes,microseconds\n"
                         "block.py,4,forward,2,6\nnet.py,3,forward,1,1\n,0,,1,0\n")
        self.assertIn("block.py:4", run("profile", self.model, times, "--by", "line").stdout)
        self.assertEqual(run("profile", self.model, times, "--by", "line", "--to", "flame").returncode, 2)

    def test_lines_are_kept_and_found_again(self):
        tagged, again, plain = (self.folder / name for name in ("tagged.onnx", "again.onnx", "plain.onnx"))
        self.assertEqual(run("tag", self.model, "-o", tagged, "--with", "source").returncode, 0)
        data = tagged.read_bytes()
        record = data[data.index(b"pkg.stemma.sources"):]
        self.assertNotIn(ROOT.encode(), record)
        self.assertEqual(record.count(b"block.py"), 1)
        # Again, also without repeating the option; strip removes all of it.
        run("tag", tagged, "-o", again)
        self.assertEqual(again.read_bytes(), data)
        run("strip", tagged, "-o", plain)
        self.assertEqual(plain.read_bytes(), self.model.read_bytes())
        whole = self.folder / "whole.onnx"
        run("tag", self.model, "-o", whole, "--with", "source", "--full-paths")
        data = whole.read_bytes()
        self.assertIn(NET.encode(), data[data.index(b"pkg.stemma.sources"):])

    def test_what_is_not_asked_for_is_not_written(self):
        tagged = self.folder / "tagged.onnx"
        run("tag", self.model, "-o", tagged, "--sidecar", self.folder / "tags.json")
        self.assertNotIn(b"pkg.stemma.source\"", tagged.read_bytes())
        self.assertNotIn(b"pkg.stemma.sources", tagged.read_bytes())
        self.assertNotIn('"source"', (self.folder / "tags.json").read_text())
        run("tag", self.model, "--with", "source", "--sidecar", self.folder / "tags.json")
        nodes = json.loads((self.folder / "tags.json").read_text())["nodes"]
        self.assertEqual([node.get("source", {}).get("line") for node in nodes], [4, 3, 4, None])
        for options, why in ((["--with", "nothing"], "known: source, parameters"), (["--full-paths"], "--with source")):
            done = run("tag", self.model, "-o", tagged, *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)

    def test_lines_survive_tools(self):
        tagged, carried = self.folder / "tagged.onnx", self.folder / "carried.onnx"
        run("tag", self.model, "-o", tagged, "--with", "source")
        bare = self.folder / "bare.onnx"  # without metadata and doc_string, except marks and record
        bare.write_bytes(model([(name, f"stemma#{number}", {}) for number, (name, _, _) in enumerate(NODES)]))
        self.assertEqual(self.sources(bare), [None] * 4)
        data = tagged.read_bytes()
        entries = []
        at = 0
        while at < len(data):  # the fields of the model
            start, key, at = at, *read_varint(data, at)
            if key & 7 == 2:
                length, at = read_varint(data, at)
                at += length
            else:
                _, at = read_varint(data, at)
            entries += [data[start:at]] if key >> 3 == 14 else []
        bare.write_bytes(model([(name, f"stemma#{number}", {}) for number, (name, _, _) in enumerate(NODES)][:3])
                         + b"".join(entries))
        self.assertEqual([self.source(bare, f"#{n}") for n in range(3)], ["block.py:4", "net.py:3", "block.py:4"])
        changed = self.folder / "changed.onnx"
        changed.write_bytes(model([(name, "", {}) for name, _, _ in NODES]))
        run("carry", tagged, changed, "-o", carried, "--with", "source")
        self.assertEqual(self.sources(carried), self.sources(tagged))

    def test_hostile_stacks_harm_nothing(self):
        for text in ("x" * (2 << 20), "File \"\x1b]0;gone\x07.py\", line 3, in f", "\n" * 100000,
                     'File "' + "a/" * 3000 + 'b.py", line 3, in f', "File \"a.py\", line 3, in f\n" * 20000,
                     "a.py(3): \x1b[2Jf\n", "# a.py:3:99999999999999999999", "\0" * 50):
            self.model.write_bytes(model([("a", text, {"pkg.torch.onnx.stack_trace": text})]))
            for command in (["explain", self.model, "a"], ["analyze", self.model, "--by", "line"],
                            ["tag", self.model, "--with", "source", "-o", self.folder / "out.onnx"]):
                done = run(*command)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("\x1b", done.stdout)

    def test_a_capture_tells_lines(self):
        self.model.write_bytes(model([("a", "", {}), ("b", "", {})]))
        capture = self.folder / "capture.json"
        capture.write_text(json.dumps({
            "schema": "stemma.capture/1",
            "modules": [{"name": "", "class_name": "Net", "qualified_class": "app.net.Net",
                         "source": traceback((NET, 1, "def forward(self, x):"))}],
            "export": {"nodes": [{"graph": "", "index": 0, "op_type": "Relu", "scope": "app.net.Net::", "stack": 0},
                                 {"graph": "", "index": 1, "op_type": "Relu", "scope": None, "stack": None}],
                       "stacks": [traceback((NET, 3, "return y"))]}}))
        self.assertEqual(self.source(self.model, "a", "-m", capture), "app/net.py:3")
        self.assertIsNone(self.source(self.model, "b", "-m", capture))
        self.assertIn("app/net.py:1 in forward", run("explain", self.model, "''", "-m", capture).stdout)
        tagged = self.folder / "tagged.onnx"
        run("tag", self.model, "-m", capture, "--with", "source", "-o", tagged)
        self.assertEqual(self.source(tagged, "a"), "app/net.py:3")
        self.assertIn("app/net.py:1 in forward", run("explain", tagged, "''").stdout)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
