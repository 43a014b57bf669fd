"""Values that nobody should give to anything: for tests of wrong arguments."""

from __future__ import annotations

import io
from typing import Any

import numpy as np


class Raises:
    """Every question it is asked ends in an error of its own."""

    def _no(self, *args: Any, **keywords: Any) -> Any:
        raise OSError("asked")

    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __index__ = __int__ = __float__ = __array__ = __getitem__ = __fspath__ = __call__ = _no
    __hash__ = object.__hash__


class Itself:
    """Its array is itself."""

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        return self


def closed() -> Any:
    file = io.StringIO("text")
    file.close()
    return file


def odd_values() -> dict[str, Any]:
    """By name; made anew, so that nobody changes them."""
    return {
        "None": None, "-1": -1, "0": 0, "huge": 10**5000, "2**64": 2**64, "nan": float("nan"), "inf": float("inf"), "text": "no such thing", "empty text": "", "nul": "a\0b", "surrogate": "\udcff",
        "bytes": b"\xff", "true": True, "list": [], "nested": [[[]]], "ragged": [[1], [2, 3]], "dict": {}, "set": {1}, "object": object(), "type": int, "type of types": type, "function": lambda *a: None, "raises": Raises(),
        "itself": Itself(), "closed": closed(), "folder": "/", "array": np.zeros(3), "objects": np.array([None, "x"], dtype=object), "strings": np.array(["a"]), "no memory": np.zeros((0, 2**58)),
        "complex": 1j, "ellipsis": ..., "slice": slice(None), "generator": (x for x in ()), "exception": ValueError("x"), "module": io,
    }  # fmt: skip
