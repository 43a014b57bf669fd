"""Functions pasted from elsewhere (pasted.py) mean what they meant, for every kind of element and at small sizes, or are refused with a help."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import atoll as at

from .pasted import PASTED
from .test_spellings import HEAD, _plain

TEXTS = {re.search(r"def (\w+)", text)[1]: text.strip() + "\n" for text in PASTED.split("---\n")}  # type: ignore[index]
KINDS = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "u8": np.uint8, "bool_": np.bool_}
SIZES = ((0, 0), (1, 1), (2, 1), (3, 2), (7, 5), (12, 4))
NAMED = {  # docs/for_numpy_users.md: functions of small integers and bools are f64, f32 beside i64 is f32 for operators, float(x) is an f64 and no Python float, bools count in sums
    ("softmax", "u8"), ("softmax_rows", "u8"), ("haversine", "u8"), ("haversine", "bool_"), ("log_loss", "f32"), ("min_max", "f32"), ("pairwise_dot", "bool_"),
}  # fmt: skip
NUMBERS = {"k": 3, "span": 4, "shift": 5, "cut": 0.2, "size": 5, "sig": 1.5, "fs": 10.0, "limit": 0.3}


def versions(name: str) -> Iterator[tuple[str, str]]:
    text = TEXTS[name]
    for kind in KINDS if re.search(r"\bT\[", text) else ["-"]:
        yield kind, re.sub(r"\bT(?=\[)", kind, text)


def arguments(text: str, n: int, m: int, seed: int) -> dict[str, Any]:
    """Of the types that a text says; labels and counts are below the smallest number of kinds."""
    g = np.random.default_rng(seed)
    sizes = {"n": n, "m": m, "k": max(n - 1, 0), "q": max(m - 1, 0)}
    found: dict[str, Any] = {}
    for name, kind, axes in re.findall(r"(\w+): (\w+)(?:\[([^\]]*)\])?(?=, \w+:|\):)", text.splitlines()[0]):
        if not axes:
            found[name] = NUMBERS[name]
            continue
        shape = tuple(sizes[a] if a in sizes else int(a) for a in axes.split(", "))
        values = g.integers(0, 2 if kind == "i64" and name != "x" else 120, shape)
        found[name] = g.random(shape).astype(KINDS[kind]) if kind[0] == "f" else values.astype(KINDS[kind]) if kind != "bool_" else values % 2 == 1
    return found


def differs(found: Any, wanted: Any, exact: float) -> str:
    got, want = _plain(found), _plain(wanted)
    if len(got) != len(want):
        return f"{len(got)} parts for {len(want)}"
    for g, w in zip(got, want, strict=True):
        narrow = w.dtype.kind in "iu" and g.dtype.kind in "iu"  # counts are i64 here
        if g.shape != w.shape or (g.dtype != w.dtype and not narrow) or not np.allclose(g, w, exact, exact, equal_nan=True):
            return f"{g.dtype} {g} for {w.dtype} {w}"
    return ""


def outcomes(name: str, compiled: bool) -> Iterator[tuple[str, str]]:
    """For every kind and size: match, refused (by either side) or differs; and what about it."""
    for kind, text in versions(name):
        f = None
        for n, m in SIZES:
            given = arguments(text, n, m, n)
            env: dict[str, Any] = {"np": np, "n": n, "m": m}
            exec("from __future__ import annotations\n" + text, env)  # noqa: S102  our own list
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    wanted = env[name](**{p: np.copy(x) if isinstance(x, np.ndarray) else x for p, x in given.items()})
                except Exception as error:  # noqa: BLE001  whatever NumPy raises
                    wanted = error
                try:
                    f = at.fn(source=HEAD + text) if f is None else f
                    found = f(*given.values()) if compiled else f.interpret(*given.values())
                except at.Error as error:
                    assert error.code != "E0899", error
                    yield "both refuse" if isinstance(wanted, Exception) else "refused", f"{name} {kind} {n} {m}: {error.code} {error.message.splitlines()[0]}: {error.help}"
                    continue
            if isinstance(wanted, Exception):
                yield "accepted", f"{name} {kind} {n} {m}: {wanted!r}, here {found!r}"
                continue
            why = differs(found, wanted, 1e-4 if kind == "f32" else 1e-9)
            yield ("named" if (name, kind) in NAMED else "differs", f"{name} {kind} {n} {m}: {why}") if why else ("match", "")


@pytest.mark.parametrize("name", TEXTS)
def test_means_what_it_meant(name: str) -> None:
    found = list(outcomes(name, compiled=False))
    assert not [why for kind, why in found if kind == "differs"]
    assert any(kind == "match" for kind, _ in found)
