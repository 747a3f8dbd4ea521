# SPDX-License-Identifier: Apache-2.0
"""A model in which the line of every operation is known: see make_source.py."""
import torch
import torch.nn.functional as F
from torch import nn


def scaled(x):
    return torch.softmax(
        x * 0.5, -1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        y = F.relu(self.fc(x))
        y = scaled(y)
        return self.norm(x + y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(8), Block(8)])
        self.head = nn.Sequential(nn.Linear(8, 4), nn.Tanh())

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        rows = [part.mean(-1) for part in x.split(1, dim=1)]
        return self.head(x), torch.cat(rows)
