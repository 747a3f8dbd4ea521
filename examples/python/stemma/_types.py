# SPDX-License-Identifier: Apache-2.0
"""Asks the package onnx for the types of values."""
import importlib
from typing import Any, Iterator, List, Tuple

Record = Tuple[int, bytes, bytes]


def inferred_types(model: bytes) -> Tuple[str, List[Record]]:
    """Why nothing could be inferred, or "", and for each value of a known type the number of its graph, its name
    and its type."""
    try:
        onnx: Any = importlib.import_module("onnx")
        inference: Any = importlib.import_module("onnx.shape_inference")
    except ImportError:
        return "the package onnx is not installed", []
    try:
        inferred = inference.infer_shapes(onnx.load_model_from_string(model), data_prop=True)
    except Exception as problem:  # onnx may raise anything
        return (str(problem).splitlines() or [type(problem).__name__])[0], []
    return "", list(types_in(inferred.graph, [0]))


def types_in(graph: Any, number: List[int]) -> Iterator[Record]:
    """Graphs are numbered as they come, each before those in its nodes."""
    own, number[0] = number[0], number[0] + 1
    for info in [*graph.value_info, *graph.input, *graph.output]:
        yield own, info.name.encode(), info.type.SerializeToString()
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                yield from types_in(inner, number)
