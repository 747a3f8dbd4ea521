#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares parts cut out of a model with PyTorch's exports of the same modules alone.

usage: standalone_exports.py PROGRAM MODEL_INFO FIXTURE

A part has the inputs, outputs and operators of the module, and no constant as an input, with one
exception: exporters compute the size of a tensor only once, at its first use. A module that uses it
later has it as an additional input, a scalar, instead of the Shape and Gather of the module alone.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
except ImportError:
    print("skipped: python3-torch is not installed")
    sys.exit(77)

PROGRAM, MODEL_INFO, FIXTURE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
CAPTURE = ["-m", FIXTURE / "modules.json"]


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def operators_of(model):
    nodes = json.loads(run(PROGRAM, "query", model, "", "--format", "json"))["nodes"]
    return collections.Counter(node["op_type"] for node in nodes)


def boundary_of(model):
    """Types and ranks of inputs and outputs."""
    described = json.loads(run(MODEL_INFO, "describe", model))[0]
    return tuple(sorted((value["type"], len(value["shape"])) for value in described[side])
                 for side in ("inputs", "outputs"))


def submodule(root, path):
    for name in filter(None, path.split(".")):
        root = getattr(root, name)
    return root


def export_alone(module, shapes, opset, path):
    """Returns: whether the module can be exported with floats, or else integers, of these shapes."""
    wanted = len(list(module.forward.graph.inputs())) - 1
    for whole in (False, True):
        values = [torch.ones(shape, dtype=torch.long) if whole else torch.ones(shape)
                  for shape in shapes[:wanted]]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                names = [f"input{i}" for i in range(len(values))]
                axes = {name: dict(enumerate("abcdefgh"[:value.dim()]))
                        for name, value in zip(names, values)}
                torch.onnx.export(module, tuple(values), str(path), opset_version=opset,
                                  input_names=names, dynamic_axes=axes)
            return True
        except (RuntimeError, IndexError):
            continue
    return False


def size_from_outside(part, alone):
    """Returns: the number of sizes that come from outside, if models differ only in those."""
    (part_inputs, part_outputs), part_operators = part
    (alone_inputs, alone_outputs), alone_operators = alone
    more = collections.Counter(part_inputs) - collections.Counter(alone_inputs)
    sizes = more[("int64", 0)]
    explained = (more == collections.Counter({("int64", 0): sizes} if sizes else {})
                 and not collections.Counter(alone_inputs) - collections.Counter(part_inputs)
                 and part_outputs == alone_outputs
                 and not part_operators - alone_operators
                 and alone_operators - part_operators
                 == collections.Counter({"Shape": sizes, "Gather": sizes} if sizes else {}))
    return sizes if explained else None


def main():
    opset = json.loads((FIXTURE / "summary.json").read_text())["opset"]
    trace = json.loads((FIXTURE / "trace.json").read_text())
    archive = torch.jit.load(str(FIXTURE / "model.pt"))
    failures, explained, compared = [], [], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        parts = collections.defaultdict(list)
        for cut in json.loads(run(PROGRAM, "cut", FIXTURE / "model.onnx", *CAPTURE, "--all", "-d",
                                  folder / "parts", "--format", "json"))["cuts"]:
            parts[cut["module"]].append(cut)
        for event in trace["events"]:
            path = event.get("module")
            if event["kind"] != "enter" or event["call"] != 0 or not path or path not in parts:
                continue
            alone = folder / "alone.onnx"
            if not export_alone(submodule(archive, path), event["input_shapes"], opset, alone):
                failures.append(f"{path}: cannot be exported alone")
                continue
            if len(parts[path]) != 1 or "file" not in parts[path][0]:
                failures.append(f"{path}: is no single part")
                continue
            compared += 1
            models = [(boundary_of(model), operators_of(model))
                      for model in (folder / "parts" / parts[path][0]["file"], alone)]
            sizes = size_from_outside(*models)
            if sizes is None:
                failures.append(f"{path}: cut out it is {models[0]}, alone it is {models[1]}")
            elif sizes:
                explained.append(f"{path}: {sizes} size computed outside is an input")
    print(f"{compared} modules compared, {compared - len(explained) - len(failures)} equal")
    print("\n".join(explained + failures))
    sys.exit(1 if failures or compared == 0 else 0)


if __name__ == "__main__":
    main()
