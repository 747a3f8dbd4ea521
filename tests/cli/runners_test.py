#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs examples/runners/run_values.py with a replacement for the module onnxruntime.

usage: runners_test.py RUNNER [unittest arguments]

ONNX Runtime for Python is not installed where tests run. The replacement has the same positional and
named arguments, rejects the same values and returns the same types; its "model" is a list of inputs
and a list of outputs, each with the input that it doubles.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

RUNNER = pathlib.Path(sys.argv[1]).resolve()

STAND_IN = '''
import enum, json
import numpy as np

class GraphOptimizationLevel(enum.Enum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99

class SessionOptions:
    __slots__ = ("graph_optimization_level", "intra_op_num_threads", "inter_op_num_threads",
                 "log_severity_level", "enable_profiling", "execution_mode")
    def __init__(self):
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.intra_op_num_threads = 0

class NodeArg:
    def __init__(self, name):
        self.name, self.type, self.shape = name, "tensor(float)", ["n"]

class InferenceSession:
    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        if not isinstance(path_or_bytes, (str, bytes)):
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        if not isinstance(sess_options, SessionOptions) or providers != ["CPUExecutionProvider"]:
            raise TypeError("incompatible constructor arguments")
        assert sess_options.graph_optimization_level is GraphOptimizationLevel.ORT_DISABLE_ALL
        assert sess_options.intra_op_num_threads == 1
        self.model = json.load(open(path_or_bytes))
    def get_inputs(self):
        return [NodeArg(name) for name in self.model["inputs"]]
    def get_outputs(self):
        return [NodeArg(name) for name in self.model["outputs"]]
    def run(self, output_names, input_feed, run_options=None):
        missing = [name for name in self.model["inputs"] if name not in input_feed]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(input_feed)}).")
        for name, value in input_feed.items():
            if name not in self.model["inputs"]:
                raise RuntimeError(f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid input name: {name}")
            if not isinstance(value, np.ndarray):
                raise RuntimeError("Input must be a list of dictionaries or a single numpy array for input")
        names = output_names or list(self.model["outputs"])
        made = {name: [input_feed[of]] * 2 if name == "sequence" else input_feed[of] * 2
                for name, of in self.model["outputs"].items()}
        return [made[name] for name in names]
'''


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "onnxruntime.py").write_text(STAND_IN)

    def run_runner(self, *words):
        return subprocess.run([sys.executable, RUNNER, *map(str, words)], capture_output=True, text=True,
                              env={"PYTHONPATH": str(self.folder), "PATH": ""}, timeout=60)

    def model(self, name, inputs, outputs):
        (self.folder / name).write_text(json.dumps({"inputs": inputs, "outputs": outputs}))
        return self.folder / name

    def test_inputs_and_outputs_are_saved_by_name(self):
        names = ["x", "/layer.0/Add_output_0", "file"]
        model = self.model("m.onnx", names[:1], {names[1]: "x", names[2]: "x", "sequence": "x"})
        half = np.array([[1, 2, 3]], dtype=np.float16)
        np.savez(self.folder / "in.npz", x=half, unused=half)
        done = self.run_runner(model, self.folder / "in.npz", self.folder / "out.npz")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        values = np.load(self.folder / "out.npz")
        self.assertEqual(sorted(values.files), sorted(names))
        self.assertEqual(values["x"].tolist(), half.tolist())
        self.assertEqual((values["file"].tolist(), values["file"].dtype), ([[2, 4, 6]], np.float16))

    def test_inputs_that_are_missing_are_named(self):
        np.savez(self.folder / "in.npz", y=np.zeros(1))
        done = self.run_runner(self.model("m.onnx", ["x", "z"], {}), self.folder / "in.npz", "out.npz")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"{self.folder / 'm.onnx'}: no value for input x, z\n")

    def test_isolated_parts_are_run_on_what_each_reads(self):
        self.model("a.onnx", ["x"], {"u": "x"})
        self.model("b.onnx", ["x", "y"], {"u": "y"})
        parts = [{"module": "a", "file": "a.onnx", "reason": None, "inputs": ["x"], "outputs": ["u"]},
                 {"module": "c", "file": None, "reason": "no value", "inputs": [], "outputs": []},
                 {"module": "b", "file": "b.onnx", "reason": None, "inputs": ["x", "y"], "outputs": ["u"]}]
        (self.folder / "isolate.json").write_text(json.dumps(
            {"schema": "stemma.isolate/1", "model": "m.onnx", "inputs": "inputs.npz",
             "results": "results.npz", "parts": parts}))
        np.savez(self.folder / "inputs.npz", x=np.ones(2), y=np.full(2, 3.0))
        done = self.run_runner("--isolated", self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        values = np.load(self.folder / "results.npz")
        self.assertEqual({name: values[name].tolist() for name in values.files},
                         {"a.onnx#u": [2, 2], "b.onnx#u": [6, 6]})

    def test_usage(self):
        done = self.run_runner("m.onnx")
        self.assertEqual(done.returncode, 1)
        self.assertIn("run_values.py PROBED.onnx INPUTS.npz VALUES.npz", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
