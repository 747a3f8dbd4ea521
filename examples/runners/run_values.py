#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models in ONNX Runtime for Python and saves what they compute, for `stemma numerics`:
  run_values.py PROBED.onnx INPUTS.npz VALUES.npz   all outputs of a model, and its inputs
  run_values.py --isolated DIR                      what `stemma numerics --isolate DIR` wrote
"""
import json
import pathlib
import sys
import zipfile

import numpy as np
import onnxruntime as ort


def run(model, values):
    """Returns the inputs and outputs of a model by name: as written and on one thread, so that two
    runs differ only where the models do."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    missing = [one.name for one in session.get_inputs() if one.name not in values]
    if missing:
        sys.exit(f"{model}: no value for input {', '.join(missing)}")
    feeds = {one.name: values[one.name] for one in session.get_inputs()}
    names = [one.name for one in session.get_outputs()]
    return feeds, dict(zip(names, session.run(names, feeds)))


def save(path, tensors):
    """As numpy.savez, which takes no name `file`, and one tensor at a time."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, tensor in tensors.items():
            if isinstance(tensor, np.ndarray):
                with archive.open(name + ".npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, tensor, allow_pickle=False)


def main(words):
    if len(words) == 2 and words[0] == "--isolated":
        folder = pathlib.Path(words[1])
        plan = json.loads((folder / "isolate.json").read_text(encoding="utf-8"))
        values = np.load(folder / plan["inputs"])
        results = {}
        for part in plan["parts"]:
            if part["file"] is not None:
                _, outputs = run(folder / part["file"], values)
                results.update({f"{part['file']}#{name}": outputs[name] for name in outputs})
        save(folder / plan["results"], results)
    elif len(words) == 3:
        feeds, results = run(words[0], np.load(words[1]))
        save(words[2], {**feeds, **results})
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
