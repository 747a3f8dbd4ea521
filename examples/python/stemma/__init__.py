# SPDX-License-Identifier: Apache-2.0
"""Says of everything in an ONNX model which module of PyTorch it came from.

    import stemma
    model = stemma.open("model.onnx")
    for node in model.find_module("encoder.layer.0").nodes:
        print(node.name, node.op_type, node.tag)
"""
import os
from typing import Any, Iterable, Optional, Protocol, Union

from . import _stemma
from ._handles import Handles
from ._stemma import (Answer, Attribute, Claim, Error, Model, Module, Node, Parameter, Part, Value, __version__,
                      join, unfold, validate)

__all__ = ["Answer", "Attribute", "Claim", "Error", "Handles", "Model", "Module", "Node", "Parameter", "Part",
           "Value", "__version__", "carry", "join", "open", "unfold", "validate"]


class ModelProto(Protocol):
    """A message of protobuf: onnx.ModelProto."""

    def SerializeToString(self) -> bytes: ...


Path = Union[str, "os.PathLike[str]"]
Source = Union[Path, bytes, bytearray, memoryview, ModelProto]


def open(model: Source, *, capture: Union[Path, Iterable[Path]] = (), original: Optional[Model] = None,
         select: str = "", keep: Iterable[str] = (), naming: str = "", resolve: str = "",
         propagate: str = "", sources: Iterable[str] = (), min_confidence: float = 0,
         recompute: bool = False, retag: bool = False, threads: int = 0, name: str = "model") -> Model:
    """Opens a model and says of everything in it which module it came from.

    model       a path, the bytes of a file, or an onnx.ModelProto
    capture     files with what PyTorch knew, or the ONNX file that the model was made of
    original    the model that this one was made of: what is known of it is carried over
    select, naming, resolve, propagate   policies by name, as the program takes them
    keep        classes that the default selection selects as well
    sources     evidence to use; all without it
    min_confidence   claims below it are not believed, 0 to 1
    recompute   use nothing of the tags in the file
    retag       use the tree and the evidence of the tags in the file, not the tags: as `stemma tag`
    threads     that may work; 0: as many as there are processors, at most 8
    name        what to call a model without a file in messages
    """
    bytes_of: Optional[bytes] = None
    if isinstance(model, (str, os.PathLike)):
        name = os.fspath(model)
    elif isinstance(model, (bytes, bytearray, memoryview)):
        bytes_of = bytes(model)
    elif hasattr(model, "SerializeToString"):
        bytes_of = model.SerializeToString()
    else:
        raise TypeError(f"a path, bytes or an onnx.ModelProto is wanted, not {type(model).__name__}")
    captures = [capture] if isinstance(capture, (str, os.PathLike)) else list(capture)
    if original is not None and captures:
        raise TypeError("original is open already: its captures are given where it is opened")
    return _stemma.open(path_of(name), bytes_of, captures=[path_of(one) for one in captures],
                        original=original, select=select, keep=list_of(keep), naming=naming, resolve=resolve,
                        propagate=propagate, sources=list_of(sources), min_confidence=min_confidence,
                        recompute=recompute, retag=retag, threads=threads)


def carry(original: Model, changed: Source, **options: Any) -> Model:
    """Opens a model that a tool derived from `original`, with the tags of its nodes' origins. An original of another
    model is an error."""
    if original is None:
        raise TypeError("an original is wanted, not None")
    return open(changed, original=original, **options)


def list_of(texts: Iterable[str]) -> "list[str]":
    if isinstance(texts, str):
        raise TypeError(f"several texts are wanted, not one: [{texts!r}]")
    return list(texts)


def path_of(path: Path) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError("a path with a null character")
    return encoded
