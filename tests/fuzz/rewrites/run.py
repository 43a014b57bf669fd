"""One program a seed: compiled with default optimisation, at several sizes, against plain Python."""

from __future__ import annotations

import contextlib
import importlib
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import atoll as at

from ..seeds import Died, each_seed
from ..stages import Stages
from .oracle import DTYPES, python
from .table import ROWS
from .words import Chooser, Program

PATIENCE = 90.0
RUN_TIME = "E07"
SMALL = 40  # elements up to which loops are executed too


@dataclass(frozen=True)
class Found:
    """What a seed gave: `kind` is right, refused, stopped (a run-time error that the interpreter has too) or a kind of failure."""

    seed: int
    row: str
    kind: str
    fired: bool = False  # asked of every eighth seed: it takes as long as rewriting
    detail: str = ""
    runs: int = 0

    @property
    def failed(self) -> bool:
        return self.kind not in ("right", "refused", "stopped")


def program(seed: int, row: str = "") -> tuple[str, Program]:
    name = row or list(ROWS)[seed % len(ROWS)]
    chooser = Chooser(f"{name} {seed}")
    chooser.plain = (0.0, 0.8, 0.95)[seed % 3]
    return name, ROWS[name].make(chooser)


def arguments(text: str, n: int, m: int, seed: int, p: Program) -> list[Any]:
    """Places (`p`) are indices of n; other integers lie in the program's range; floats are quarters, so that most sums are exact."""
    g = np.random.default_rng((seed, n, m))
    found: list[Any] = []
    head = re.search(r"def f\((.*)\):\n", text)
    assert head is not None
    for name, dtype, axes in re.findall(r"(\w+): (\w+)(?:\[([\w, +]*)\])?", head.group(1)):
        if not axes:
            found.append(np.int64(g.integers(-4, 9)))
            continue
        shape = tuple(sum({"n": n, "m": m}.get(part.strip()) or int(part.strip() if part.strip().isdigit() else 0) for part in axis.split("+")) for axis in axes.split(","))
        if name == "p":
            found.append(g.permutation(n) if g.random() < 0.5 else g.integers(0, max(n, 1), n))
            continue
        low = max(p.low, 0) if dtype == "u8" else p.low
        values = g.integers(low, p.high + 1, shape) if dtype != "bool_" else g.integers(0, 2, shape)
        made = (values * 0.25 if dtype in ("f32", "f64") else values).astype(DTYPES[dtype])
        if p.nan and dtype in ("f32", "f64") and made.size and g.random() < 0.6:
            made[tuple(g.integers(0, s) for s in shape)] = np.nan
        found.append(made)
    return found


def leaves(v: Any) -> list[Any]:
    return [x for item in v for x in leaves(item)] if isinstance(v, tuple) else [np.asarray(v)]


def same(expected: Any, found: Any) -> bool:
    if expected.size == 0 and found.size == 0:
        return True
    if expected.shape != found.shape:
        return False
    if found.dtype.kind not in "fc":
        return bool(np.array_equal(expected, found))
    close = 3e-3 if found.dtype == np.float32 else 1e-8
    most = float(np.nanmax(np.abs(np.where(np.isfinite(expected), expected, 0.0)))) if expected.size else 0.0
    with np.errstate(all="ignore"):
        return bool(np.allclose(np.asarray(expected, np.float64), np.asarray(found, np.float64), rtol=close, atol=close * max(1.0, most), equal_nan=True))


@contextlib.contextmanager
def patched(changes: dict[str, int]) -> Iterator[None]:
    """Sizes from which a rewrite pays, lowered, so that small arrays take its way."""
    old = []
    for name, number in changes.items():
        place, _, constant = name.rpartition(".")
        module = importlib.import_module(f"atoll.loops.{place}")
        old.append((module, constant, getattr(module, constant)))
        setattr(module, constant, number)
    try:
        yield
    finally:
        for module, constant, number in old:
            setattr(module, constant, number)


def run_seed(seed: int, row: str = "", levels: tuple[str, ...] = ("",)) -> Found:
    name, p = program(seed, row)
    with warnings.catch_warnings(), patched(p.patch), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _run(seed, name, p, levels)


def _run(seed: int, name: str, p: Program, levels: tuple[str, ...]) -> Found:
    try:
        f = at.fn(source=p.text)
        _ = f.core
    except at.Error as error:
        return Found(seed, name, "refused", detail=str(error))
    except Exception as error:  # noqa: BLE001  finding those is the purpose
        return Found(seed, name, "crash", detail=f"{p.text}\n{type(error).__name__}: {error}")
    try:
        fired = bool(ROWS[name].says) and seed % 8 == 0 and re.search(ROWS[name].says, f.explain("schedule")) is not None
        compiled = [f.compile(level).call if level else f for level in levels]
    except Exception as error:  # noqa: BLE001
        return Found(seed, name, "crash", detail=f"{p.text}\n{type(error).__name__}: {error}")
    reference = python(p.text)
    kind, runs = "stopped", 0
    checked = Stages(f).run_rewritten if seed % 4 == 1 else None
    for n, m in p.sizes:
        args = arguments(p.text, n, m, seed, p)
        if checked is not None and n * m <= SMALL and (stuck := _stuck(checked, args)):
            return Found(seed, name, "stuck", fired, f"{p.text}\nn = {n}, m = {m}, seed {seed}\n{stuck}", runs)
        expected = _attempt(reference, [np.array(x) if np.ndim(x) else x for x in args])
        for level, run in zip(levels, compiled, strict=True):
            found = _attempt(run, args)
            runs += 1
            if isinstance(found, list) and isinstance(expected, list) and len(expected) == len(found) and all(same(a, b) for a, b in zip(expected, found, strict=True)):
                kind = "right"
                continue
            other = _attempt(f.interpret, args)
            if isinstance(found, str) and (other == found or (all(isinstance(x, str) and x.startswith(RUN_TIME) for x in (found, other)) and isinstance(expected, str))):
                continue  # an error of the program; of two, either: there is no order of evaluation to know
            agreed = isinstance(found, list) and isinstance(other, list) and all(same(a, b) for a, b in zip(other, found, strict=True))
            if agreed and (not n * m or (isinstance(expected, list) and any(a.ndim != b.ndim for a, b in zip(expected, found, strict=False)))):
                kind = "right"  # a list of no rows has lost how long they are
                continue
            what = "oracle" if agreed else "value"
            said = f"{p.text}\nn = {n}, m = {m}, seed {seed}{f', level {level}' if level else ''}\nPython {expected}\ninterpreter {other}\ncompiled {found}"
            return Found(seed, name, what, fired, said, runs)
    return Found(seed, name, kind, fired, runs=runs)


def _stuck(run: Any, args: list[Any]) -> str:
    """What is wrong when the loops that are printed are executed with every access looked at: values are compared elsewhere."""
    try:
        run(tuple(args))
    except at.Error:
        return ""
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return ""


def _attempt(run: Any, args: list[Any]) -> list[Any] | str:
    try:
        return leaves(run(*args))
    except at.Error as error:
        return str(error.code)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def run_seeds(seeds: Iterable[int], row: str = "", levels: tuple[str, ...] = ("",)) -> Iterator[Found]:
    for found in each_seed(seeds, lambda seed: run_seed(seed, row, levels if levels != ("",) or seed % 8 else ("", "0")), PATIENCE):
        if isinstance(found, Died):
            name, p = program(found.seed, row)
            yield Found(found.seed, name, "died", detail=f"{p.text}\nexit {found.exitcode}")
        else:
            yield found
