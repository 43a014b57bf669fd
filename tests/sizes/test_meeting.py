"""Whether two indices can be equal: the answers of sizes/meeting.py against every value of small ranges."""

from __future__ import annotations

import ast
import itertools
import random
from pathlib import Path

import atoll
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.meeting import differ, never_divisible, outside, tells
from atoll.sizes.prover import facts

I, J, N = Sym("i"), Sym("j"), Sym("n")
RANGES = (poly(I), poly(N) - 1 - I, poly(J), poly(N) - 1 - J, poly(N) - 1)


def _values(n: int) -> list[dict[Sym, int]]:
    return [{I: i, J: j, N: n} for i, j in itertools.product(range(n), repeat=2)]


def _at(p: Poly, env: dict[Sym, int]) -> int:
    return p.evaluate(lambda a: env[a])  # type: ignore[index]


def _linear(rng: random.Random) -> Poly:
    return poly(I) * rng.randint(-2, 2) + poly(J) * rng.randint(-2, 2) + poly(N) * rng.randint(-1, 2) + rng.randint(-3, 3)


def test_what_differs_is_never_equal() -> None:
    """300 pairs of indices, 4 sizes: who is said to differ does; at least a quarter of the pairs that do are seen."""
    rng, seen, so, ctx = random.Random(7), 0, 0, facts(RANGES)
    for _ in range(300):
        x, y = _linear(rng), _linear(rng)
        equal = any(_at(x - y, env) == 0 for n in (1, 2, 3, 5) for env in _values(n))
        found = differ(x, y, ctx) or never_divisible(x - y)
        assert not (found and equal), (x, y)
        seen, so = seen + found, so + (not equal)
    assert seen >= so // 4 > 10


def test_outside_a_range() -> None:
    ctx = facts(RANGES)
    assert outside(poly(N), poly(0), poly(N), ctx) and outside(poly(I) - 1, poly(I), poly(N), ctx)
    assert not outside(poly(I), poly(0), poly(N), ctx) and not outside(poly(J), poly(I), poly(N), ctx)


def test_what_tells_the_round() -> None:
    assert tells((poly(J), poly(I) * 2 + J), I) and not tells((poly(J), poly(I) * N), I)
    assert not tells((poly(I) * 2 + J,), I, {J}) and tells((poly(I) * 2 + J, poly(I) + 1), I, {J})


def test_what_comes_back_tells_no_round() -> None:
    """300 indices with quotients and remainders: who is said to tell rounds apart does, and `slope` is what a step adds, for 24 rounds and any value of the other one."""
    rng, told_apart, steps = random.Random(8), 0, 0
    for _ in range(300):
        turn = rng.choice((poly(I), poly(I) + J, poly(I) * 2 + 1))
        size = rng.randint(2, 5)
        p = _linear(rng) + rng.randint(-2, 2) * (turn // size) + rng.choice((0, 1, -1)) * (turn - (turn // size) * size)
        values = {j: [_at(p, {I: i, J: j, N: 7}) for i in range(24)] for j in range(3)}
        if tells((p,), I):
            told_apart += 1
            assert all(len(set(v)) == 24 for v in values.values()), p
        if (step := p.slope(I)) is not None:
            steps += 1
            assert all(_at(step, {I: 0, J: j, N: 7}) == b - a for j, v in values.items() for a, b in itertools.pairwise(v)), p
    assert told_apart > 20 and steps > 30


OWN = {"loops/knowledge/values.py"}  # docs/architecture.md says why


def _asks_itself(tree: ast.Module) -> bool:
    """`x.proves(d - 1) or x.proves(-d - 1)`: the question of this module, asked by hand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            asked = [x.args[0] for x in node.values if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and x.func.attr == "proves" and x.args]
            strict = [goal for goal in asked if isinstance(goal, ast.BinOp) and isinstance(goal.op, ast.Sub) and ast.unparse(goal.right) == "1"]
            if len(strict) > 1:
                return True
    return False


def test_nobody_else_decides_whether_two_indices_meet() -> None:
    folder = Path(atoll.__file__).parent
    asking = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if "proves" in (text := path.read_text()) and _asks_itself(ast.parse(text))}
    assert asking == OWN
