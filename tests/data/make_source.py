#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/source: an export with stacks, one without and its capture, and the true lines.

usage: make_source.py

Made with Debian 12's torch 1.13. The model's code is compiled under a path in somebody else's folder.
The truth is independent of the exporter's stacks: while the model runs, every call of an operator
searches the Python stack for the innermost line of net.py; nodes of the file are identified by scope
and type.
"""
import json
import linecache
import pathlib
import sys
import threading
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "examples"))
from capture import capture  # noqa: E402

NAME = "/srv/someone/project/app/net.py"


def load():
    text = (HERE / "source" / "net.py").read_text()
    linecache.cache[NAME] = (len(text), None, text.splitlines(True), NAME)
    module = types.ModuleType("app.net")
    sys.modules["app.net"] = module
    exec(compile(text, NAME, "exec"), module.__dict__)
    return module


class lines_of_operators(TorchDispatchMode):
    """{operator: the lines in which it ran}"""

    def __init__(self):
        super().__init__()
        self.found = {}

    def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != NAME:
            frame = frame.f_back
        if frame is not None:
            self.found.setdefault(func._schema.name.partition("::")[2], set()).add(frame.f_lineno)
        return func(*args, **(kwargs or {}))


# Exported operators, for those with unambiguous lines in net.py.
MADE = {"Softmax": ("_softmax",), "Relu": ("relu",), "Tanh": ("tanh",), "Concat": ("cat",),
        "LayerNormalization": ("native_layer_norm",), "Split": ("split",), "ReduceMean": ("mean",),
        "MatMul": ("addmm",), "Mul": ("mul",)}


def main():
    module = load()
    torch.manual_seed(0)
    model = module.Net().eval()
    data = (torch.randn(2, 3, 8),)
    with lines_of_operators() as seen, torch.no_grad():
        model(*data)
    truth = {op: sorted(set().union(*(seen.found.get(name, set()) for name in names))) for op, names in MADE.items()}
    folder = HERE / "source"
    torch.onnx.export(model, data, folder / "traced.onnx", verbose=True, opset_version=17)
    capture(model, data, path=str(folder / "plain.capture.json"), trace=False, fx=None,
            export=str(folder / "plain.onnx"), export_options={"opset_version": 17})
    (folder / "truth.json").write_text(json.dumps({op: lines for op, lines in truth.items() if lines}, indent=1) + "\n")


if __name__ == "__main__":
    # Compiled again under another name, as stacks contain the path of the exporter's caller.
    scope = {"__name__": "make_source", "__file__": __file__}
    exec(compile(pathlib.Path(__file__).read_text(encoding="utf-8"), "make_source.py", "exec"), scope)
    run = threading.Thread(target=scope["main"])  # whose stack starts below this file
    run.start()
    run.join()
