"""Values in Futhark's data syntax: numbers with suffixes, arrays, empty([0][3]i32), strings. The type of an array is that of its first element."""

from __future__ import annotations

import gzip
import re
from typing import Any

import numpy as np

from atoll.errors import fail
from atoll.futhark.literals import text_bytes

DTYPES = {**{f"{k}{n}": np.dtype(f"{w}{n}") for k, w in (("i", "int"), ("u", "uint")) for n in (8, 16, 32, 64)}, "f16": np.dtype("float16"), "f32": np.dtype("float32"), "f64": np.dtype("float64"), "bool": np.dtype("bool")}
_TOKEN = re.compile(
    r"""\s*(?:(?P<empty>empty\s*\(\s*(?P<dims>(?:\[\s*\d*\s*\]\s*)+)(?P<etype>\w+)\s*\))
    |(?P<special>-?(?:f16|f32|f64)\.(?:nan|inf))
    |(?P<hexfloat>[-+]?0[xX][0-9a-fA-F_]+\.[0-9a-fA-F_]*(?:[pP][-+]?\d+)?(?:f16|f32|f64)?)
    |(?P<hex>-?0[xX][0-9a-fA-F_]+?(?:(?:[iu](?:8|16|32|64))(?![0-9a-fA-F_]))|-?0[xX][0-9a-fA-F_]+|-?0[bB][01_]+(?:[iu](?:8|16|32|64))?)
    |(?P<float>[-+]?(?:\d[\d_]*\.\d[\d_]*(?:[eE][-+]?\d+)?|\d[\d_]*[eE][-+]?\d+|\d[\d_]*\.(?!\d))(?:f16|f32|f64)?|[-+]?\d[\d_]*(?:f16|f32|f64))
    |(?P<int>[-+]?\d[\d_]*(?:[iu](?:8|16|32|64))?)
    |(?P<bool>true|false)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<punct>[\[\],;]))""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"--[^\n]*")


class Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = _COMMENT.sub("", text), 0

    def next(self) -> re.Match[str] | None:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            if self.text[self.at :].strip():
                fail("E1409", name="test data", text=f"{self.text[self.at :].strip()[:30]!r} is no value")
            return None
        return found

    def all(self) -> list[Any]:
        values = []
        while (found := self.next()) is not None:
            if found.group("punct") in (",", ";"):
                self.at = found.end()
                continue
            values.append(self.value())
        return values

    def value(self) -> Any:
        found = self.next()
        if found is None:
            fail("E1409", name="test data", text="a value is missing")
        self.at = found.end()
        if found.group("empty"):
            dims = [int(d or 0) for d in re.findall(r"\[\s*(\d*)\s*\]", found.group("dims"))]
            return np.zeros(dims, DTYPES[found.group("etype")])
        if found.group("punct") == "[":
            return self.array()
        if found.group("string"):
            return np.frombuffer(text_bytes(found.group("string")[1:-1]), np.uint8)
        return scalar(found)

    def array(self) -> Any:
        items: list[Any] = []
        while True:
            found = self.next()
            if found is None:
                fail("E1409", name="test data", text="an array is not closed")
            if found.group("punct") == "]":
                self.at = found.end()
                break
            if found.group("punct") == ",":
                self.at = found.end()
                continue
            items.append(self.value())
        if not items:
            return np.zeros((0,), np.int32)
        dtype = np.asarray(items[0]).dtype
        if np.ndim(items[0]) == 0:
            return np.array([_into(x, dtype) for x in items], dtype)
        return np.stack([np.asarray(x).astype(dtype) for x in items])


def _into(x: Any, dtype: Any) -> Any:
    if dtype.kind in "iu" and np.asarray(x).dtype.kind in "iu":
        return np.array(int(x) & ((1 << (8 * dtype.itemsize)) - 1), f"u{dtype.itemsize}").view(dtype)[()]
    return dtype.type(x)


def scalar(found: re.Match[str]) -> Any:
    if found.group("bool"):
        return np.bool_(found.group("bool") == "true")
    if found.group("special"):
        text = found.group("special")
        sign = -1.0 if text.startswith("-") else 1.0
        kind, what = text.lstrip("-").split(".")
        return DTYPES[kind].type(sign * float(what))
    text = (found.group("float") or found.group("hexfloat") or "").replace("_", "")
    if text:
        suffix = next((x for x in ("f16", "f32", "f64") if text.endswith(x)), None)
        body = text[: -len(suffix)] if suffix else text
        value = float.fromhex(body) if found.group("hexfloat") else float(body)
        return DTYPES[suffix or "f64"].type(value)
    text = (found.group("int") or found.group("hex")).replace("_", "")
    suffix = next((x for x in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64") if text.endswith(x)), None)
    body = text[: -len(suffix)] if suffix else text
    number = int(body, 0) if found.group("hex") else int(body)
    dtype = DTYPES[suffix or "i32"]
    if suffix is None and not -(2**31) <= number < 2**31:
        dtype = np.dtype("int64") if number < 2**63 else np.dtype("uint64")
    bits = 8 * dtype.itemsize
    return np.array(number & ((1 << bits) - 1), f"u{dtype.itemsize}").view(dtype)[()]


def read_values(text: str) -> list[Any]:
    """All values of a text, in order."""
    return Reader(text).all()


_RANDOM = re.compile(r"\s*(?:(?P<dims>(?:\[\s*\d+(?:i64)?\s*\]\s*)*)(?P<type>[iuf]\d+|bool)\b|(?P<value>[^\s]+))")


def random_values(text: str) -> list[Any]:
    """Values for a text of types, as `futhark dataset` makes them: integers of all bits, floats between 0 and 1. The same ones every time."""
    rng = np.random.default_rng(0)
    found: list[Any] = []
    at = 0
    text = _COMMENT.sub("", text).strip()
    while at < len(text):
        m = _RANDOM.match(text, at)
        assert m is not None
        at = m.end()
        if m.group("value"):  # a value among types is itself
            found += read_values(m.group("value"))
            continue
        shape = tuple(int(d) for d in re.findall(r"\[\s*(\d+)", m.group("dims")))
        dtype = DTYPES[m.group("type")]
        if dtype.kind == "f":
            found.append(rng.random(shape).astype(dtype) if shape else dtype.type(rng.random()))
        elif dtype.kind == "b":
            found.append(rng.integers(0, 2, shape).astype(bool) if shape else np.bool_(rng.integers(0, 2)))
        else:
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            made = rng.integers(low, high, shape, dtype=dtype, endpoint=True)
            found.append(made if shape else dtype.type(made))
    return found


_BINARY = {b"  i8": "i1", b" i16": "i2", b" i32": "i4", b" i64": "i8", b"  u8": "u1", b" u16": "u2", b" u32": "u4", b" u64": "u8", b" f16": "f2", b" f32": "f4", b" f64": "f8", b"bool": "b1"}


def read_bytes(data: bytes) -> list[Any]:
    """All values of a file, each as text or in Futhark's binary format (`b`, version 2, rank, type, sizes, elements), compressed or not."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    found: list[Any] = []
    at = 0
    while at < len(data):
        start = data.find(b"b\x02", at)  # no text has the byte 2
        text = data[at:] if start < 0 else data[at:start]
        found += read_values(text.decode("utf-8"))
        at += len(text)
        if start < 0:
            break
        rank, kind = data[at + 2], data[at + 3 : at + 7]
        if kind not in _BINARY:
            fail("E1409", name="test data", text="this is not Futhark's binary format, version 2")
        shape = np.frombuffer(data, "<i8", rank, at + 7)
        dtype = np.dtype("<" + _BINARY[kind])
        at += 7 + 8 * rank
        array = np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
        at += array.nbytes
        found.append(array if rank else array[()])
    return found
