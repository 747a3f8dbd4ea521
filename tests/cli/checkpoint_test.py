#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives the stemma program checkpoints as captures of models without names: weights must be recognized,
and anything but a checkpoint rejected in one line.

usage: checkpoint_test.py PROGRAM FIXTURES [unittest arguments]
"""
import io
import json
import os
import pickle
import struct
import sys
import unittest
import zipfile
from collections import OrderedDict

from program_test import FIXTURES, Case, run

# Fixtures with a TorchScript archive.
MODELS = ["bert_micro", "bert_micro_12l", "bert_mlm", "gpt2_tiny", "lstm_classifier", "mlp", "shared_twice",
          "two_tower", "unet_tiny"]


class Object:
    def __setstate__(self, state):
        self.state = state


class Unpickler(pickle.Unpickler):
    """Reads the tensors of a TorchScript archive: (type, shape, offset, storage)."""

    def find_class(self, module, name):
        if module.startswith("__torch__"):
            return Object
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, shape, *rest: (storage[1], tuple(shape), offset, storage[2])
        if name == "OrderedDict":
            return OrderedDict
        return name

    def persistent_load(self, pid):
        return pid


def tensors_of(fixture):
    """{name: (type, shape, bytes)} of the archive beside a model; a tensor with several names once."""
    widths = {"FloatStorage": 4, "LongStorage": 8, "BoolStorage": 1, "ByteStorage": 1, "DoubleStorage": 8}
    tensors = {}
    visited = set()
    with zipfile.ZipFile(FIXTURES / fixture / "model.pt") as archive:
        folder = archive.namelist()[0].split("/")[0]

        def walk(module, path):
            for key, value in module.state.items():
                name = f"{path}.{key}" if path else key
                if isinstance(value, Object):
                    walk(value, name)
                elif isinstance(value, tuple) and len(value) == 4 and value[0] in widths and value not in visited:
                    visited.add(value)
                    kind, shape, offset, storage = value
                    count = 1
                    for extent in shape:
                        count *= extent
                    data = archive.read(f"{folder}/data/{storage}")
                    width = widths[kind]
                    tensors[name] = (kind, shape, data[offset * width:(offset + count) * width])

        walk(Unpickler(io.BytesIO(archive.read(f"{folder}/data.pkl"))).load(), "")
    return tensors


def safetensors(tensors):
    names = {"FloatStorage": "F32", "LongStorage": "I64", "BoolStorage": "BOOL", "ByteStorage": "U8",
             "DoubleStorage": "F64"}
    header, data = {}, b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": names[kind], "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Checkpoints(Case):
    def tag(self, model, *captures):
        sidecar = self.folder / "sidecar.json"
        said = self.succeed("tag", model, *(word for capture in captures for word in ("-m", capture)),
                            "--sidecar", sidecar)
        return json.loads(sidecar.read_text()), said

    def measure(self, fixture, nodes):
        """Returns (nodes with known truth, exact or in the parent module, in an unrelated module)."""
        by_name = {node["name"]: node for node in nodes}
        counts = [0, 0, 0]
        for node in json.loads((FIXTURES / fixture / "truth.json").read_text())["nodes"]:
            true = next((node[key] for key in ("module", "known_module", "inferred_module")
                         if node.get(key) is not None), None)
            if true is None:
                continue
            true = true.split(".") if true else []
            path = by_name[node["opaque"]]["scope_module"]
            path = path.split(".") if path else []
            above = true[:len(path)] == path
            counts[0] += 1
            counts[1] += above and len(true) - len(path) <= 1
            counts[2] += not above and path[:len(true)] != true
        return counts

    def test_nameless_models_are_attributed(self):
        all_nodes = [0, 0, 0]
        for fixture in MODELS:
            archive = FIXTURES / fixture / "model.pt"
            weights = self.folder / "weights.safetensors"
            weights.write_bytes(safetensors(tensors_of(fixture)))
            for checkpoint in (archive, weights):
                with self.subTest(fixture=fixture, checkpoint=checkpoint.suffix):
                    tags, _ = self.tag(FIXTURES / fixture / "anonymous.onnx", checkpoint)
                    counts = self.measure(fixture, tags["nodes"])
                    self.assertGreater(sum(node["provenance"] == "contents" for node in tags["nodes"]), 0)
                    all_nodes = [one + other for one, other in zip(all_nodes, counts)]
        total, near, contaminated = all_nodes
        self.assertGreaterEqual(near, 0.9 * total)
        self.assertLessEqual(contaminated, 0.005 * total)

    def test_tied_weights_are_of_the_module_that_reads_them(self):
        for fixture, output in (("gpt2_tiny", "lm_head"), ("bert_mlm", "cls.predictions.decoder")):
            tags, _ = self.tag(FIXTURES / fixture / "anonymous.onnx", FIXTURES / fixture / "model.pt")
            module = {node["name"]: node["scope_module"] for node in tags["nodes"]}
            true = [node for node in json.loads((FIXTURES / fixture / "truth.json").read_text())["nodes"]
                    if node["op_type"] == "MatMul" and node["module"] == output]
            self.assertEqual([module[node["opaque"]] for node in true], [output])

    def test_beside_a_capture_the_modules_are_those_of_the_capture(self):
        capture = FIXTURES / "bert_micro" / "modules.json"
        tags, _ = self.tag(FIXTURES / "bert_micro" / "anonymous.onnx", capture,
                           FIXTURES / "bert_micro" / "model.pt")
        self.assertIn("BertSelfAttention", {module["class"] for module in tags["modules"]})
        self.assertGreater(sum(node["provenance"] == "contents" for node in tags["nodes"]), 250)

    def test_a_tagged_file_keeps_what_was_found(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", FIXTURES / "mlp" / "anonymous.onnx", "-m", FIXTURES / "mlp" / "model.pt",
                     "-o", tagged)
        again = self.folder / "again.onnx"
        self.succeed("tag", tagged, "-o", again)
        self.assertEqual(again.read_bytes(), tagged.read_bytes())
        stripped = self.folder / "stripped.onnx"
        self.succeed("strip", tagged, "-o", stripped)
        self.assertEqual(stripped.read_bytes(), (FIXTURES / "mlp" / "anonymous.onnx").read_bytes())

    def test_of_another_model_is_said_and_not_used(self):
        tags, said = self.tag(FIXTURES / "gpt2_tiny" / "anonymous.onnx", FIXTURES / "bert_micro" / "model.pt")
        self.assertEqual(sum(node["provenance"] == "contents" for node in tags["nodes"]), 0)
        self.assertIn("it seems to belong to another model and is ignored", said.stdout + said.stderr)

    def test_what_is_none_is_refused_in_one_line(self):
        def archive(content, **members):
            path = self.folder / "bad.pt"
            with zipfile.ZipFile(path, "w") as written:
                written.writestr("a/data.pkl", content)
                for name, data in members.items():
                    written.writestr(f"a/{name}", data)
            return path

        def plain(name, content):
            path = self.folder / name
            path.write_bytes(content)
            return path

        canary = self.folder / "canary"
        for path, reason in (
                (lambda: archive(b"\x80\x02cos\nsystem\nX\x05\x00\x00\x00touch\x85R."), "needs 'os.system'"),
                (lambda: archive(b"\x80\x02cposix\nopen\nX" + struct.pack("<I", len(str(canary)))
                                 + str(canary).encode() + b"K\x42\x86R."), "needs 'posix.open'"),
                (lambda: archive(b"\x80\x02" + b"(" * 100000), "is not a pickle, or is damaged"),
                (lambda: archive(b"\x80\x02}."), "contains no tensors"),
                (lambda: plain("old.pt", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."),
                 "is a pickle outside of an archive"),
                (lambda: plain("cut.pt", (FIXTURES / "mlp" / "model.pt").read_bytes()[:-30]),
                 "is not a zip archive, or is damaged"),
                (lambda: plain("a.safetensors", struct.pack("<Q", 30) + b'{"a":{"dtype":"F32","shape":[9'),
                 "the header is not JSON"),
                (lambda: plain("m.safetensors.index.json", b'{"weight_map":{"a":"../a.safetensors"}}'),
                 "which is not next to the index")):
            file = path()
            done = run("tree", FIXTURES / "mlp" / "anonymous.onnx", "-m", file)
            with self.subTest(reason=reason):
                self.assertEqual(done.returncode, 3)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertIn(file.name, done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertFalse(canary.exists())

    def test_a_pipe_that_an_index_names_is_not_waited_for(self):
        os.mkfifo(self.folder / "pipe.safetensors")
        index = self.folder / "model.safetensors.index.json"
        index.write_text('{"weight_map": {"a": "pipe.safetensors"}}')
        self.fail_with(3, "tree", FIXTURES / "mlp" / "anonymous.onnx", "-m", index, saying="is not a file")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
