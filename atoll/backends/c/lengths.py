"""How long the C of loops is, before it is printed: what decides whether a nest is a function of its own."""

from __future__ import annotations

from atoll.loops import ir as lp

_SUM = 24  # lines that a sum in lanes takes, beside twice its body
LARGE = 250  # lines of a program that has a first version (runtime/first_version.py)


def lines(stmts: lp.Stmts) -> int:
    """About how many lines of C statements are, without those of functions of their own."""
    total = 0
    for stmt in stmts:
        inside = sum(lines(body) for body in lp.bodies(stmt)) if not isinstance(stmt, (lp.Chunks, lp.Product)) else 0
        if isinstance(stmt, lp.Accumulate) and not stmt.exact:
            total += _SUM * len(stmt.accs) + 2 * inside
        else:
            total += (1 if inside == 0 else 3) + inside
    return total


def is_large(program: lp.Stmts) -> bool:
    """A program that takes compilers long: everything in it that need not be optimised for the first call is kept apart from what must be."""
    return lines(program) + sum(lines(stmt.body) for stmt in lp.walk(program) if isinstance(stmt, lp.Chunks)) >= LARGE
