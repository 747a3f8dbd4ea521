# SPDX-License-Identifier: Apache-2.0
"""Exports the models of shapes/, whose extents follow from arithmetic on shapes."""

import pathlib

import torch
from torch import nn
from torch.nn import functional


class Windows(nn.Module):
    """Pads an image to whole windows, and mixes channels and positions of each window."""

    def __init__(self, window: int = 4, width: int = 6):
        super().__init__()
        self.window = window
        self.patch = nn.Conv2d(3, width, 2, stride=2)
        self.mix = nn.Linear(width, 2 * width)

    def forward(self, picture):
        x = self.patch(picture)
        size = self.window
        below = (size - x.shape[2] % size) % size
        right = (size - x.shape[3] % size) % size
        x = functional.pad(x, (0, right, 0, below))
        n, c, h, w = x.shape
        x = x.view(n, c, h // size, size, w // size, size).permute(0, 2, 4, 3, 5, 1)
        query, key = self.mix(x.reshape(n, -1, size * size, c)).chunk(2, dim=-1)
        return torch.einsum("...ic,...jc->...ij", query, key)


def main():
    torch.manual_seed(1)
    folder = pathlib.Path(__file__).parent / "shapes"
    folder.mkdir(exist_ok=True)
    torch.onnx.export(
        Windows().eval(), torch.zeros(1, 3, 20, 24), folder / "windows.onnx", opset_version=14,
        input_names=["picture"], output_names=["scores"],
        dynamic_axes={"picture": {0: "batch", 2: "height", 3: "width"}})


if __name__ == "__main__":
    main()
