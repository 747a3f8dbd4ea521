#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports small models whose initializers lose their names.

    make_weights.py [FOLDER]      default: weights, beside this file

Needs torch 1.13. Writes NAME.onnx, the weights NAME.pt and the modules NAME.modules.json.
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "examples"))

import capture
import torch
from torch import nn


class Attention(nn.Module):
    """Queries differ from keys and values, so the exporter slices the merged projection."""

    def __init__(self):
        super().__init__()
        self.cross = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, memory):
        return self.cross(x, memory, memory)[0]


class Folded(nn.Sequential):
    """Convolutions with biases, folded with batch norms."""

    def __init__(self):
        super().__init__(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))


class Normed(nn.Sequential):
    """A convolution whose weight is computed, beside one that has its own."""

    def __init__(self):
        super().__init__(nn.utils.weight_norm(nn.Conv1d(2, 3, 3)), nn.ReLU(), nn.Conv1d(3, 2, 1))


class Handed(nn.Module):
    """A module that uses the parameters of its children itself."""

    def __init__(self):
        super().__init__()
        self.attn = nn.Module()
        self.attn.qkv, self.attn.proj = nn.Linear(6, 18), nn.Linear(18, 6)

    def forward(self, x):
        for one in (self.attn.qkv, self.attn.proj):
            x = nn.functional.linear(x, one.weight, one.bias)
        return x


MODELS = {"attention": (Attention, ((1, 3, 8), (1, 5, 8))), "folded": (Folded, ((1, 2, 6, 6),)),
          "handed": (Handed, ((1, 3, 6),)),
          "normed": (Normed, ((1, 2, 6),))}


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "weights"
    folder.mkdir(exist_ok=True)
    for name, (kind, shapes) in MODELS.items():
        torch.manual_seed(1)
        model = kind().eval()
        with torch.no_grad():
            for tensor in model.state_dict().values():
                if tensor.is_floating_point():
                    tensor.uniform_(0.5, 1.5)
        torch.save(model.state_dict(), folder / f"{name}.pt")
        modules = [{**module, "source": None} for module in capture.describe_modules(model, None)]
        (folder / f"{name}.modules.json").write_text(json.dumps({"schema": "stemma.capture/1", "modules": modules}))
        torch.onnx.export(model, tuple(torch.rand(shape) for shape in shapes), str(folder / f"{name}.onnx"))


if __name__ == "__main__":
    main()
