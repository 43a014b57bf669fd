"""The coefficients in atoll/backends/c/portable_tables.py: polynomials that interpolate at the Chebyshev points of an interval.

    python -m tools.portable_tables > atoll/backends/c/portable_tables.py        # needs mpmath, which nothing else here does

An interval is mapped to u in -1..1; polynomials are found with 400 bits and their coefficients rounded once. Relative errors are below 2**-59.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import cos, erf, erfc, exp, gamma, loggamma, mp, mpf, pi, sqrt  # type: ignore[import-not-found]

mp.prec = 400
HEAD = '''"""Coefficients of polynomials for portable_math.py: interpolations at the Chebyshev points of an interval, made with 400 bits and rounded once, as polynomials
of u in -1..1, the constant first (tools/portable_tables.py). What they are of stands where they are used; tests/portable/test_functions.py looks at the functions."""
'''


def interpolated(f: Callable[[Any], Any], low: Any, high: Any, degree: int) -> list[Any]:
    """The coefficients of a polynomial of u."""
    n, low, high = degree + 1, mpf(low), mpf(high)
    values = [f((low + high) / 2 + (high - low) / 2 * cos(pi * mpf(2 * k + 1) / (2 * n))) for k in range(n)]
    series = [2 / mpf(n) * sum(values[k] * cos(pi * j * mpf(2 * k + 1) / (2 * n)) for k in range(n)) for j in range(n)]
    series[0] /= 2
    powers: list[list[Any]] = [[mpf(1)], [mpf(0), mpf(1)]]  # Chebyshev's polynomials by powers of u
    for _ in range(2, n):
        made = [mpf(0), *(2 * x for x in powers[-1])]
        for i, x in enumerate(powers[-2]):
            made[i] -= x
        powers.append(made)
    found = [mpf(0)] * n
    for c, row in zip(series, powers, strict=False):
        for i, x in enumerate(row):
            found[i] += c * x
    return found


def _scaled(x: Any) -> Any:
    return erfc(x) * exp(x * x)


TABLES: dict[str, tuple[Callable[[Any], Any], Any, Any, int]] = {
    "erf_small": (lambda z: erf(sqrt(z)) / sqrt(z), 0, 0.25 * 1.21, 9),  # of the square
    "erfc_1": (_scaled, 0.5, 1.25, 16),
    "erfc_2": (_scaled, 1.25, 2.5, 18),
    "erfc_3": (_scaled, 2.5, 5.5, 22),
    "erfc_4": (lambda w: _scaled(1 / sqrt(w)) / sqrt(w), 0, 1 / mpf("5.5") ** 2, 12),  # of the inverse square
    "lgamma_1": (lambda x: loggamma(x) / ((x - 1) * (x - 2)), 1, 2, 21),
    "lgamma_2": (lambda x: loggamma(x) / ((x - 1) * (x - 2)), 2, 3, 17),
    "gamma": (gamma, 2, 3, 17),
}


def text() -> str:
    lines = [HEAD, "TABLES: dict[str, tuple[str, ...]] = {"]
    for name, (f, low, high, degree) in TABLES.items():
        numbers = [float(c).hex() for c in interpolated(f, low, high, degree)]
        lines.append(f'    "{name}": (')
        lines += ["        " + " ".join(f'"{x}",' for x in numbers[k : k + 4]) for k in range(0, len(numbers), 4)]
        lines.append("    ),")
    return "\n".join([*lines, "}  # fmt: skip", ""])


if __name__ == "__main__":
    print(text(), end="")
