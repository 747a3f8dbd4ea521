# SPDX-License-Identifier: Apache-2.0
"""Sequences whose elements are created on demand."""
import collections.abc
from typing import Callable, Iterator, TypeVar, Union, overload

Handle = TypeVar("Handle", covariant=True)


class Handles(collections.abc.Sequence[Handle]):
    """Nodes, values, modules or parameters of a model: a sequence that holds none of them."""

    __slots__ = ("_size", "_at")

    def __init__(self, size: int, at: Callable[[int], Handle]) -> None:
        self._size = size
        self._at = at

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Handle: ...
    @overload
    def __getitem__(self, index: slice) -> "Handles[Handle]": ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Handle, "Handles[Handle]"]:
        if isinstance(index, slice):
            numbers = range(self._size)[index]
            return Handles(len(numbers), lambda i: self._at(numbers[i]))
        return self._at(range(self._size)[index])

    def __iter__(self) -> Iterator[Handle]:
        return map(self._at, range(self._size))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"<{self._size}: [{shown}{', ...' if self._size > 3 else ''}]>"
