"""Every stage gives the same value: the interpreter, the AiNF evaluator, the loop executor and compiled code."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import atoll as at
from atoll.ainf.dead import remove_dead
from atoll.ainf.evaluate import evaluate
from atoll.ainf.from_core import translate
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops.execute import execute
from atoll.lower.function import lower
from atoll.runtime.arguments import from_python


def flat(value: Any) -> list[Any]:
    """The leaves of a Python result, records included."""
    if isinstance(value, tuple):
        return [x for item in value for x in flat(item)]
    if hasattr(value, "__dataclass_fields__"):
        return [x for name in value.__dataclass_fields__ for x in flat(getattr(value, name))]
    return [value]


def same(found: Any, expected: Any, what: str = "") -> None:
    """Equal leaves: type, shape, and value up to rounding."""
    a, b = [np.asarray(x) for x in flat(found)], [np.asarray(x) for x in flat(expected)]
    assert len(a) == len(b), what
    for x, y in zip(a, b, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape, (what, x.dtype, y.dtype, x.shape, y.shape)
        tolerance = 1e-4 if x.dtype in (np.float32, np.complex64) else 1e-9
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=what)


def for_all_threads(f: Any, *args: Any) -> Any:
    """The value of f, the same bits with one, two and five threads."""
    results = []
    try:
        for threads in (1, 2, 5):
            at.set_threads(threads)
            results.append(flat(f(*args)))
    finally:
        at.set_threads(2)
    for other in results[1:]:
        assert all(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc") for a, b in zip(results[0], other, strict=True)), "results depend on the number of threads"
    return results[0][0] if len(results[0]) == 1 else tuple(results[0])


@lru_cache(maxsize=32)
def stages(f: Any) -> tuple[Any, Any]:
    """The normal form and the loops of a function, made once for all its arguments."""
    program = remove_dead(translate(f.core))
    return program, lower(program)


def agree(f: Any, *args: Any, expected: Any = None, compiled: bool = True) -> Any:
    """The value of f, after checking that all stages agree on it (and with `expected`)."""
    value = f.interpret(*args)
    if expected is not None:
        same(value, expected, "interpreter")
    program, loops = stages(f)
    given = from_python(f.core, f._arguments(args, {}))
    sizes = bind_call(f.core, given)
    inputs = [leaf for x in given for leaf in leaves(x)]
    wanted = tuple(flat(value))
    same(tuple(evaluate(program, inputs, sizes)), wanted, "ainf")
    for piece in (1, 3, 1000):
        same(tuple(execute(loops, inputs, sizes, piece)), wanted, f"loops, pieces of {piece}")
    if compiled:
        same(f.compile().call(*args), value, "compiled")
    return value


def fails(f: Any, *args: Any, code: str) -> None:
    """Every stage raises the error with this code."""
    program, loops = stages(f)
    given = from_python(f.core, f._arguments(args, {}))
    sizes = bind_call(f.core, given)
    inputs = [leaf for x in given for leaf in leaves(x)]
    texts = []
    for run in (
        lambda: f.interpret(*args),
        lambda: evaluate(program, inputs, sizes),
        lambda: execute(loops, inputs, sizes),
        lambda: f.compile().call(*args),
    ):
        try:
            run()
        except at.Error as error:
            assert error.code == code, error
            texts.append(str(error))
        else:
            raise AssertionError(f"{f.name} did not fail with {code}")
    assert len(set(texts)) == 1, texts
