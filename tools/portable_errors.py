"""How far the functions of bits="portable" are from the exact values, in units in the last place: the table of docs/bits.md, and the points of tests/portable/reference.py.

    python -m tools.portable_errors [--points 4000] [--reference]      # needs mpmath, which nothing else here does

Arguments are random: uniform over ranges that matter and over their logarithms. `--reference` prints, for every function, the arguments with the largest errors and others,
with the exact value rounded once.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-not-found]
import numpy as np
from mpmath import mp, mpf

from atoll.runtime.portable_functions import computed

mp.prec = 200
R = random.Random(1)
Draw = Callable[[], float]


def _flat(low: float, high: float) -> Draw:
    return lambda: R.uniform(low, high)


def _wide(low: float, high: float, signed: bool = True) -> Draw:
    return lambda: math.exp(R.uniform(math.log(low), math.log(high))) * (R.choice((1, -1)) if signed else 1)


def _lgamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


_ALL, _POSITIVE = _wide(1e-300, 1e300), _wide(1e-300, 1e300, False)
TABLE: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [_ALL, _flat(-8, 8)]),
    "exp": (mp.exp, [_flat(-700, 700), _flat(-1, 1)]),
    "exp2": (lambda x: mpf(2) ** x, [_flat(-1000, 1000), _flat(-1, 1)]),
    "expm1": (mp.expm1, [_flat(-40, 700), _flat(-1, 1), _wide(1e-20, 1)]),
    "log": (mp.log, [_POSITIVE, _flat(0.5, 2), _flat(0.99, 1.01)]),
    "log2": (lambda x: mp.log(x) / mp.log(2), [_POSITIVE, _flat(0.5, 2)]),
    "log10": (lambda x: mp.log(x) / mp.log(10), [_POSITIVE, _flat(0.5, 2)]),
    "log1p": (mp.log1p, [_flat(-0.99, 10), _wide(1e-20, 0.9), _wide(1, 1e300, False)]),
    "sin": (mp.sin, [_flat(-10, 10), _wide(1e-10, 1e300)]),
    "cos": (mp.cos, [_flat(-10, 10), _wide(1e-10, 1e300)]),
    "tan": (mp.tan, [_flat(-10, 10), _wide(1e-10, 1e300)]),
    "arcsin": (mp.asin, [_flat(-1, 1), _wide(1e-10, 1)]),
    "arccos": (mp.acos, [_flat(-1, 1), lambda: 1 - math.exp(R.uniform(-36, 0))]),
    "arctan": (mp.atan, [_flat(-5, 5), _wide(1e-10, 1e20)]),
    "arctan2": (mp.atan2, [(_wide(1e-10, 1e10), _wide(1e-10, 1e10)), (_flat(-2, 2), _flat(-2, 2))]),
    "sinh": (mp.sinh, [_flat(-700, 700), _flat(-2, 2), _wide(1e-10, 1)]),
    "cosh": (mp.cosh, [_flat(-700, 700), _flat(-2, 2)]),
    "tanh": (mp.tanh, [_flat(-25, 25), _flat(-1, 1), _wide(1e-10, 1)]),
    "arcsinh": (mp.asinh, [_flat(-5, 5), _wide(1e-10, 1e300)]),
    "arccosh": (mp.acosh, [_flat(1, 10), _wide(1, 1e300, False), lambda: 1 + math.exp(R.uniform(-36, 0))]),
    "arctanh": (mp.atanh, [_flat(-1, 1), _wide(1e-10, 1)]),
    "hypot": (mp.hypot, [(_ALL, _ALL), (_flat(-2, 2), _flat(-2, 2))]),
    "erf": (mp.erf, [_flat(-6, 6), _flat(-1, 1), _wide(1e-20, 1)]),
    "erfc": (mp.erfc, [_flat(-6, 6), _flat(0, 26), _flat(0, 2)]),
    "lgamma": (_lgamma, [_flat(0, 10), _flat(0.5, 3), _wide(1e-10, 1e300, False), _flat(1.9, 2.1), _flat(0.9, 1.1)]),
    "tgamma": (mp.gamma, [_flat(0, 12), _flat(12, 171), _flat(-20, 0), _wide(1e-10, 1, False)]),
    "digamma": (mp.digamma, [_flat(2, 100), _wide(2, 1e100, False)]),
    "trigamma": (lambda x: mp.psi(1, x), [_flat(0.1, 100), _wide(1e-2, 1e100, False)]),
    "pow": (mp.power, [(_wide(1e-10, 1e10, False), _flat(-20, 20)), (_flat(0.5, 2), _flat(-500, 500)), (_POSITIVE, _flat(-1, 1)), (_wide(0.999, 1.001, False), _flat(-5e5, 5e5))]),
}


def distance(found: Any, exact: Any, single: bool) -> float:
    """From the exact value, in units in the last place of it."""
    nearest = np.float32(float(exact)) if single else np.float64(float(exact))
    if not np.isfinite(nearest) or not np.isfinite(found):
        return 0.0 if found == nearest else math.inf
    unit = mpf(2) ** max(mp.frexp(exact)[1] - (24 if single else 53), -149 if single else -1074) if exact != 0 else mpf(2) ** -1074
    return float(abs(mpf(float(found)) - exact) / unit)


def measured(op: str, points: int, single: bool) -> list[tuple[float, tuple[float, ...], Any]]:
    """Distances with their arguments, the largest first."""
    exact, draws = TABLE[op]
    dtype = np.float32 if single else np.float64
    found = []
    for draw in draws:
        for _ in range(points // len(draws)):
            args = tuple(d() for d in draw) if isinstance(draw, tuple) else (draw(),)
            given = np.asarray(args, dtype)
            if not np.isfinite(given).all():
                continue
            value = exact(*(mpf(float(x)) for x in given))
            if isinstance(value, mpmath.mpc) or not mp.isfinite(value):
                continue
            out = np.zeros(1, dtype)
            computed(op, given, out)
            found.append((distance(out[0], value, single), tuple(float(x) for x in given), value))
    return sorted(found, key=lambda row: -row[0])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.portable_errors", description=__doc__)
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--reference", action="store_true")
    options = parser.parse_args()
    np.seterr(all="ignore")
    for op in TABLE:
        rows = measured(op, options.points, False)
        if options.reference:
            chosen = [*rows[:6], *rows[:: max(1, len(rows) // 10)][:10]]
            print(f'    "{op}": (')
            for _, args, value in chosen:
                print(f"        ({', '.join(repr(x.hex()) for x in args)}, {float(value).hex()!r}),")
            print("    ),", flush=True)
        else:
            single = measured(op, options.points // 4, True)
            print(f"| {op} | {rows[0][0]:.2f} | {single[0][0]:.3f} |", flush=True)


if __name__ == "__main__":
    main()


