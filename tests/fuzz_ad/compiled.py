"""A gradient by compiled code alone, against differences: a quarter of what `check` takes, so that there can be many.

The product of the compiled vjp with a direction is what central differences of the interpreted function give along it. Two steps must agree for that; where they do not
(a kink is near, or cancellation), the interpreter's dual numbers say what is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from tests.fuzz.harness import Failure, TooSlow, crash_place, time_limit
from tests.fuzz.stages import leaves

from .check import TIME, Outcome, _along, _back, _function, at_a_point, close, combined, finite

STEPS = (1e-5, 2.5e-6)
CLOSE = 1e-3  # of differences; dual numbers are exact


def check(text: str, seed: int, sizes: dict[str, int]) -> Outcome:
    """Whether the compiled gradient of a program is right at one point."""
    import warnings

    outcome = Outcome()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), time_limit(TIME):
            warnings.simplefilter("ignore")
            f = _function(text)
            _ = f.core
            _gradient(f, seed, sizes, outcome)
    except at.Error as error:
        outcome.refused = f"{error.code}: {str(error).splitlines()[0]}"
        if isinstance(error, at.CompileError) or outcome.checks:
            outcome.failure = Failure("error", "compiled", str(error), error.code)
    except (TooSlow, KeyboardInterrupt):
        outcome.refused = "slow"
    except Exception as error:  # noqa: BLE001  finding those is the purpose
        import traceback

        outcome.failure = Failure("crash", "compiled", "".join(traceback.format_exception(error, limit=-5)), crash_place(error))
    return outcome


def _gradient(f: Any, seed: int, sizes: dict[str, int], outcome: Outcome) -> None:
    point = at_a_point(f, seed, sizes, outcome)
    if point is None:
        return
    args, dx, dy = point
    back = _back(f).runner("O3")((*args, dy))
    outcome.checks += 1
    along = _differences(f, args, dx, dy)
    exact = along is None
    if along is None:
        along = _dual(f, args, dx, dy)
    if along is None or not np.isfinite(along):
        outcome.refused = "not finite"
        return
    found = float(sum(np.sum(np.asarray(a) * np.asarray(b)) for a, b in zip(back, leaves(dx), strict=True) if np.asarray(b).dtype.kind == "f"))
    if abs(found - along) <= (1e-6 if exact else CLOSE) * (1.0 + abs(along)):
        return
    truth = _dual(f, args, dx, dy)  # differences alone convict nobody
    if truth is not None and abs(found - truth) > 1e-6 * (1.0 + abs(truth)):
        outcome.failure = Failure("reverse", "O3", f"<vjp dy, dx> is {found}; dual numbers give {truth}, differences {along}", "reverse")
    elif truth is not None and abs(truth - along) > CLOSE * (1.0 + abs(along)):
        outcome.failure = Failure("differences", "interpret", f"jvp and the compiled vjp give {truth}; differences {along}", "differences")


def _dual(f: Any, args: tuple[Any, ...], dx: tuple[Any, ...], dy: Any) -> float | None:
    """<dy, jvp dx> by the interpreter, where it is finite."""
    along = leaves(_along(f).f.interpret(*args, *dx))
    return _product(along, dy) if finite(along) else None


def _product(along: list[Any], dy: Any) -> float:
    return float(sum(np.sum(np.asarray(a) * np.asarray(b)) for a, b in zip(along, leaves(dy), strict=True) if np.asarray(b).dtype.kind == "f"))


def _differences(f: Any, args: tuple[Any, ...], dx: tuple[Any, ...], dy: Any) -> float | None:
    """The derivative of <dy, f> along dx; None where two steps differ."""
    estimates = []
    for h in STEPS:
        up, down = (leaves(f.interpret(*combined(args, 1.0, dx, s * h))) for s in (1.0, -1.0))
        if any(np.shape(a) != np.shape(b) for a, b in zip(up, down, strict=True)):
            return None
        estimates.append([(np.asarray(a, np.float64) - np.asarray(b, np.float64)) / (2 * h) for a, b in zip(up, down, strict=True)])
    return _product(estimates[1], dy) if close(*estimates, 1e-5) else None
