#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table of PyTorch's operators with the installed torch: it must contain every aten
operator that can be exported to ONNX opset 9 to 17, once.

usage: lexicon_check.py
"""
import pathlib
import re
import sys

HEADER = pathlib.Path(__file__).parent.parent / "include/stemma/align/detail/torch_operators.hpp"


def listed():
    """The names in the table, with repetitions."""
    table = re.search(r'R"\((.*?)\)"', HEADER.read_text(encoding="utf-8"), re.DOTALL)[1]
    names = []
    for line in table.strip().splitlines():
        names += line.lstrip("?-").partition("=")[0].split()
    return names


def exportable():
    """The aten operators with a symbolic in the installed torch."""
    try:
        import torch.onnx.utils  # noqa: F401  registers the symbolics
        from torch.onnx._internal import registration
        return {name for name in registration.registry.all_functions() if name.startswith("aten::")}
    except (ImportError, AttributeError):
        return None


def plain(name):
    """The form in which the library compares names."""
    return name.removeprefix("aten::").replace("_", "").lower()


def main():
    operators = exportable()
    if not operators:
        print("no installed torch with a registry of symbolics")
        sys.exit(77)
    names = listed()
    in_lexicon = set(names)

    def is_known(name):
        return (name in in_lexicon
                or (re.search(r"[1-3]d$", name) and name[:-2] in in_lexicon)
                or (len(name) > 3 and name[0] in "ir" and name[1:] in in_lexicon))

    missing = sorted(name for name in operators if not is_known(plain(name)))
    twice = sorted({name for name in names if names.count(name) > 1})
    for name in missing:
        print(f"{name}: not in the table")
    for name in twice:
        print(f"{name}: in the table more than once")
    print(f"{len(operators)} operators with symbolics, {len(missing)} missing, {len(twice)} repeated")
    sys.exit(1 if missing or twice else 0)


if __name__ == "__main__":
    main()
