"""Running the test blocks of a Futhark program: by the reference interpreter, or compiled."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atoll.core import interpret, ir
from atoll.core import values as v
from atoll.core.rewrite import walk
from atoll.errors import Error
from atoll.errors.base import RunError
from atoll.futhark.api import Module
from atoll.futhark.blocks import Case, Spec, read_spec
from atoll.futhark.data import random_values, read_bytes, read_values
from atoll.types.types import Array, Index, Scalar, Tuple, Type, shape_of


@dataclass(slots=True)
class Outcome:
    """What became of one case: passed, failed, rejected (by the compiler), skipped."""

    name: str
    state: str
    text: str = ""


class Wrong(Exception):
    pass


def test_file(path: Path, compiled: bool = False) -> list[Outcome]:
    """Every case of a file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return run_spec(read_spec(text, str(path)), text, path, compiled)


def run_spec(spec: Spec, text: str, path: Path, compiled: bool) -> list[Outcome]:
    try:
        module = Module(text, str(path), path.parent, frozenset(case.entry for case in spec.cases), tuning_of(path))
        made = {}
        if spec.error is not None or not spec.cases:
            made = {d: getattr(module, d) for d in dir(module)}
        del made
    except Error as error:
        if spec.error is not None:
            state = "skipped" if error.code == "E1408" else "passed"
            return [Outcome("rejected", state, str(error))]
        return [Outcome("compile", "rejected", str(error))]
    if spec.error is not None:
        return [Outcome("rejected", "failed", f"the program is accepted; expected: {spec.error}")]
    if not spec.cases:
        return [Outcome("compile", "passed")]
    until = time.process_time() + SECONDS
    return [run_case(module, case, path, compiled, until) for case in spec.cases]


def tuning_of(path: Path) -> dict[str, int]:
    """Values of tuning parameters, from FILE.fut.tuning."""
    file = path.with_name(path.name + ".tuning")
    if not file.is_file():
        return {}
    found = (line.partition("=") for line in file.read_text(encoding="utf-8").splitlines())
    return {name.strip(): int(value) for name, _, value in found if value.strip().lstrip("-").isdigit()}


def run_case(module: Any, case: Case, path: Path, compiled: bool, until: float | None = None) -> Outcome:
    shown = (case.input or case.input_file or "").strip().replace("\n", " ")
    name = f"{case.entry}: {case.name or shown[:60]}"
    expected = not case.auto and (case.output is not None or case.output_file is not None or case.error is not None)
    if case.kind == "script" or not (expected or (compiled and case.kind == "random")):
        return Outcome(name, "skipped", "no expected values")
    try:
        fn = getattr(module, case.entry)
    except Error as error:
        return Outcome(name, "rejected", str(error))
    try:
        given = random_values(case.input or "") if case.kind == "random" else _values(case.input, case.input_file, path)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = _run_somehow(fn, given, compiled, "compiled" in case.tags, until)
    except RunError as error:
        if case.error is not None:
            return Outcome(name, "passed", str(error))
        return Outcome(name, "failed", str(error))
    except Wrong as error:
        return Outcome(name, "failed", str(error))
    except Error as error:
        if case.error is not None and not error.code.startswith("E14"):
            return Outcome(name, "passed", str(error))
        return Outcome(name, "failed", str(error))
    if case.error is not None:
        return Outcome(name, "failed", f"it ran; expected error: {case.error}")
    if not expected:
        return Outcome(name, "passed", "it ran")
    wanted = _values(case.output, case.output_file, path)
    problem = compare(found, wanted)
    return Outcome(name, "passed" if problem is None else "failed", problem or "")


SECONDS = 5.0  # of the processor for the cases of a file in the interpreter; what is left then is compiled
MANY = 30  # elements: a transposed derivative is one derivative for each of them in the interpreter


def _is_slow(fn: Any, given: list[Any]) -> bool:
    return sum(np.size(x) for x in given) >= MANY and any(isinstance(e, (ir.Jvp, ir.Vjp)) for e in walk(fn.core.body))


def _run_somehow(fn: Any, given: list[Any], compiled: bool, heavy: bool, until: float | None = None) -> list[Any]:
    """A case that is not for interpreters is compiled, unless only the interpreter has what it needs; so is one that takes the interpreter too long."""
    if compiled:
        return _run(fn, given, True)
    refused: Error | None = None
    if heavy or _is_slow(fn, given):
        try:
            return _run(fn, given, True)
        except Error as error:
            if error.code != "E1408":
                raise
            refused = error
    try:
        return _run(fn, given, False, until)
    except interpret.TooSlow:
        if refused is not None:
            raise Wrong(f"too slow for the interpreter, and {str(refused).splitlines()[0]}") from None
    return _run(fn, given, True)


def _values(text: str | None, file: str | None, path: Path) -> list[Any]:
    if text is not None:
        return read_values(text)
    if file is None:
        return []
    try:
        return read_bytes((path.parent / file).read_bytes())
    except (OSError, UnicodeDecodeError) as problem:
        raise Wrong(f"{file} cannot be read: {problem}") from None


def arguments(fn: Any, given: list[Any]) -> tuple[Any, ...]:
    """Values in Futhark's order as the arguments of a function: those of a tuple one after the other."""
    pending = list(given)

    def take(t: Type) -> Any:
        sizes, elem = shape_of(t)
        if isinstance(elem, Tuple):
            parts = tuple(take(_under(sizes, item)) for item in elem.items)
            return parts
        if not pending:
            raise Wrong(f"{fn.name} is given too few values")
        assert isinstance(elem, (Scalar, Index))
        return fitted(pending.pop(0), len(sizes), elem)

    args = tuple(take(t) for _, t in fn.core.params)
    if pending:
        raise Wrong(f"{fn.name} is given too many values")
    return args


def _run(fn: Any, given: list[Any], compiled: bool, until: float | None = None) -> list[Any]:
    core, args = fn.core, arguments(fn, given)
    if compiled:
        result = fn(*(_python(t, a) for (_, t), a in zip(core.params, args, strict=True)))
        return _flat(core.result, result)
    return v.leaves(interpret.call(core, args, until=until)) if not _is_unit(core.result) else []


def _python(t: Type, value: Any) -> Any:
    sizes, elem = shape_of(t)
    if isinstance(elem, Tuple) and sizes:
        raise Wrong("arrays of tuples are given by the interpreter only")
    if isinstance(elem, Tuple):
        return tuple(_python(item, x) for item, x in zip(elem.items, value, strict=True))
    return value


def _flat(t: Type, value: Any) -> list[Any]:
    return [np.asarray(x) for x in (v.leaves(value) if isinstance(value, tuple) else [value])]


def _is_unit(t: Type) -> bool:
    return isinstance(t, Tuple) and not t.items


def _under(sizes: Any, t: Type) -> Type:
    for size in reversed(list(sizes)):
        t = Array(t, size)
    return t


def fitted(value: Any, rank: int, elem: Any) -> Any:
    """A value as a parameter of that rank and type; numbers without a suffix are of any type that fits."""
    dtype = elem.dtype.numpy
    array = np.asarray(value)
    if array.ndim != rank and not (array.size == 0 and array.ndim < rank):
        raise Wrong(f"the value has {array.ndim} dimensions, not {rank}")
    if array.ndim < rank:
        array = np.zeros((*array.shape, *([0] * (rank - array.ndim))), dtype)
    if array.dtype != dtype:
        if array.dtype.kind not in "iu" and array.dtype.kind != dtype.kind:
            raise Wrong(f"the value is of type {array.dtype}, not {dtype}")
        array = array.astype(dtype)
    return array[()] if rank == 0 else array


def _largest(a: Any) -> float:
    finite = np.abs(a[np.isfinite(a)])
    return float(finite.max()) if finite.size else 0.0


def compare(found: list[Any], wanted: list[Any], near_enough: float | None = None) -> str | None:
    """What differs, in words. `near_enough` is a tolerance instead of ours, which is stricter than that of Futhark's tool (0.002)."""
    if len(found) != len(wanted):
        return f"{len(found)} values, expected {len(wanted)}"
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape and not (a.size == 0 and b.size == 0):
            return f"value {k} has the shape {a.shape}, expected {b.shape}"
        if a.dtype != b.dtype and a.dtype.kind != b.dtype.kind and b.dtype.kind not in "iu":
            return f"value {k} is of type {a.dtype}, expected {b.dtype}"
        if a.size == 0:
            continue
        if a.dtype.kind == "f":
            tolerance = near_enough or (2e-3 if b.dtype.itemsize == 2 else 2e-4)  # expected values are printed with 6 digits, or fewer
            near = np.isclose(a.astype(float), b.astype(float), rtol=tolerance, atol=tolerance * 1e-2 * max(1.0, _largest(b)), equal_nan=True)
        else:
            near = a == b.astype(a.dtype)
        if not np.all(near):
            at = tuple(int(i) for i in np.argwhere(~near)[0]) if a.shape else ()
            return f"value {k}{list(at) if at else ''} is {a[at]}, expected {b[at]}"
    return None
