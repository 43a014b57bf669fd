"""M52 to M54 on generated programs, and agreement with NumPy wherever NumPy broadcasts without stretching an axis of size 1."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atoll as at
from atoll.elaborate.ranks.kinds import Clash
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.readings import Mark
from atoll.surface import syntax as s
from tests.conformance.automap import canonical, expression, marks_of, read, text_of

EXAMPLES = int(os.environ.get("ATOLL_EXAMPLES", "30"))  # `make fuzz-ranks` asks for more
NAMES = {0: ("x", "y", "2.0"), 1: ("xs", "ys"), 2: ("A", "B"), 3: ("C3",)}


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """Arithmetic, reductions, structure, lambdas and explicit maps over arguments of any rank."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from([name for names in NAMES.values() for name in names]))
    inner = expressions(depth=depth - 1)
    form = draw(st.sampled_from("+ - * sqrt sum reverse len map lambda ident pipe blend".split()))
    if form in "+-*":
        return f"({draw(inner)} {form} {draw(inner)})"
    if form in ("sqrt", "sum", "reverse", "len", "ident"):
        return f"{form}({draw(inner)})"
    if form == "map":
        v = f"v{depth}"
        return f"map(lambda {v}: ({v} {draw(st.sampled_from('+*'))} {draw(inner)}), {draw(inner)})"
    if form == "lambda":
        v = f"v{depth}"
        return f"(lambda {v}: ({v} * {draw(inner)}))({draw(inner)})"
    if form == "pipe":
        return f"pipe({draw(inner)}, {draw(st.sampled_from(['sqrt', 'sum', 'reverse', 'f']))})"
    return f"blend({draw(inner)}, {draw(inner)}, {draw(inner)})"


BLEND = "def blend(v, w, t): return v + (w - v) * t\n"


def program(text: str) -> str:
    return f"{BLEND}\ndef row(): return {text}\n"


def unique(text: str) -> tuple[object, s.Function, dict[int, list[Mark]], tuple[int, int]] | None:
    """A definition with exactly one least elaboration, and what it inserts; None for any other."""
    try:
        definition, function = read(program(text))
    except (Clash, Infeasible):
        return None
    if not definition.outcome.unique:
        return None
    solution = definition.outcome.the_solution()
    return definition, function, marks_of(definition, solution), (solution.cost, solution.size - solution.cost)


def one_at_a_time(inserted: dict[int, list[Mark]]) -> list[dict[int, list[Mark]]]:
    """Each way of making one inserted map or rep explicit."""
    found = []
    for node, given_marks in inserted.items():
        depth = max(m.excess for m in given_marks)
        if depth:
            outer = [Mark(m.source, int(m.excess == depth), 0, m.is_function) for m in given_marks]
            found.append({node: outer})
        for k, mark in enumerate(given_marks):
            if mark.reps:
                found.append({node: [Mark(m.source, 0, int(j == k), m.is_function) for j, m in enumerate(given_marks)]})
    return found


@settings(max_examples=EXAMPLES, deadline=None)
@given(expressions())
def test_M53_making_one_insertion_explicit_keeps_the_elaboration(text: str) -> None:
    found = unique(text)
    if found is None:
        return
    _, function, inserted, _ = found
    target = canonical(text_of(function, inserted, by_name=False))
    for explicit in one_at_a_time(inserted):
        written = text_of(function, explicit, by_name=False)
        again = unique(written)
        assert again is not None, written
        assert canonical(text_of(again[1], again[2], by_name=False)) == target, written


@pytest.mark.long
@settings(max_examples=EXAMPLES, deadline=None)
@given(expressions())
def test_M54_deleting_one_explicit_map_or_rep(text: str) -> None:
    """Write one insertion out, take it away again as REM-MAP and REM-REP do: never a type error, never dearer than putting it back."""
    found = unique(text)
    if found is None:
        return
    _, function, inserted, _ = found
    for explicit in one_at_a_time(inserted)[:EXAMPLES // 10]:
        written = text_of(function, explicit, by_name=False)
        with_it = unique(written)
        assert with_it is not None
        target = canonical(text_of(with_it[1], with_it[2], by_name=False))
        cost, induced = with_it[3]
        for removed in _without_one(written)[:EXAMPLES // 10]:
            outcome = expression(removed, BLEND)
            assert isinstance(outcome, list), removed
            best = (outcome[0].least, outcome[0].induced)
            assert best <= (cost + 1, induced), removed
            if len(outcome) == 1 and best == (cost + 1, induced):
                again = unique(removed)
                assert again is not None
                assert canonical(text_of(again[1], again[2], by_name=False)) == target, removed


def _without_one(text: str) -> list[str]:
    """`map(lambda ..., e)` as `(lambda ...)(e)`, `rep(e)` as `(lambda q: q)(e)`, one at a time."""
    import ast

    found = []
    count = sum(_is_explicit(node) for node in ast.walk(ast.parse(text, mode="eval")))
    for k in range(count):
        tree = ast.parse(text, mode="eval")
        node = [n for n in ast.walk(tree) if _is_explicit(n)][k]
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "map":
            node.func, node.args = node.args[0], node.args[1:]
        else:
            node.func = ast.parse("lambda q: q", mode="eval").body
        found.append(ast.unparse(tree))
    return found


def _is_explicit(node: object) -> bool:
    import ast

    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    return node.func.id == "rep" or (node.func.id == "map" and isinstance(node.args[0], ast.Lambda))


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(expressions())
def test_M52_what_needs_nothing_stays_as_it_is(text: str) -> None:
    found = unique(text)
    if found is None or found[3] != (0, 0):
        return
    _, function, inserted, _ = found
    assert not inserted and canonical(text_of(function, inserted)) == canonical(text)


# -- NumPy


SIZES = (2, 3, 4)
HEAD = """
import atoll as at
from atoll import f64
p, q, r = at.sizes("p q r")
@at.fn
def f({params}):
    return {text}
"""


@st.composite
def broadcasts(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A formula over four arrays, each with some of the trailing axes (p, q, r)."""
    ranks = [draw(st.integers(0, 3)) for _ in range(4)]
    leaves = ["a", "b", "c", "d"]
    while len(leaves) > 1:
        k = draw(st.integers(0, len(leaves) - 2))
        op = draw(st.sampled_from(["+", "-", "*", "maximum", "arctan2"]))
        left, right = leaves[k], leaves[k + 1]
        leaves[k : k + 2] = [f"({left} {op} {right})" if len(op) == 1 else f"{op}({left}, {right})"]
    if draw(st.booleans()):
        leaves[0] = f"where({leaves[0]} > b, c, {leaves[0]})"
    return leaves[0], ranks


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(broadcasts(), st.integers(0, 2**16))
def test_numpy_agrees_on_values_of_any_rank(case: tuple[str, list[int]], seed: int) -> None:
    text, ranks = case
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(SIZES[3 - rank :]) for rank in ranks]
    names = ["p", "q", "r"]
    params = ", ".join(
        f"{name}: f64" + (f"[{', '.join(names[3 - rank :])}]" if rank else "") for name, rank in zip("abcd", ranks, strict=True)
    )
    f = at.fn(source=HEAD.format(params=params, text=text))
    expected = eval(text, {name: getattr(np, name) for name in ("maximum", "arctan2", "where")}, dict(zip("abcd", arrays, strict=True)))  # noqa: S307
    got = f.interpret(*[a if a.ndim else float(a) for a in arrays])
    np.testing.assert_array_equal(np.asarray(got), expected)


def test_numpy_agrees_where_it_refuses_to_broadcast() -> None:
    """Leading axes are never matched, sizes never stretched: what NumPy refuses by shape is a size error here."""
    for left, right in itertools.product(("p", "q", "p, q", "q, p"), repeat=2):
        params = f"a: f64[{left}], b: f64[{right}]"
        shapes = [tuple({"p": 2, "q": 3}[c] for c in side.split(", ")) for side in (left, right)]
        try:
            np.broadcast_shapes(*shapes)
            fits = True
        except ValueError:
            fits = False
        try:
            at.fn(source=HEAD.format(params=params, text="a + b"))
            accepted = True
        except at.SizeError:
            accepted = False
        assert accepted == fits, (left, right)


# -- NumPy's generalised universal functions lift by the same rule: core axes last, loops over the rest, aligned at the end

FUNCTIONS = """
import atoll as at
from atoll import f64
n, m = at.sizes("n m")
@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)
@at.fn
def scaled(x: f64[n], s: f64) -> f64[n]:
    return x * s
@at.fn
def outer(u: f64[n], v: f64[m]) -> f64[n, m]:
    return [[p * q for q in v] for p in u]
@at.fn
def apply(a: f64[m, n], x: f64[n]) -> f64[m]:
    return dot(a, x)
@at.fn
def blend(x: f64, y: f64, t: f64) -> f64:
    return x + (y - x) * t
"""
ORACLES = {
    "dot": ("(n),(n)->()", lambda u, v: (u * v).sum()),
    "scaled": ("(n),()->(n)", lambda x, s: x * s),
    "outer": ("(n),(m)->(n,m)", np.outer),
    "apply": ("(m,n),(n)->(m)", lambda a, x: a @ x),
    "blend": ("(),(),()->()", lambda x, y, t: x + (y - x) * t),
    "sum": ("(n)->()", np.sum),
    "sort": ("(n)->(n)", np.sort),
    "max": ("(n)->()", np.max),
}


@st.composite
def applications(draw: st.DrawFn, depth: int = 3) -> tuple[str, int]:
    """An expression of applications to arguments of any rank that is large enough, and its rank (at most 4)."""
    if depth == 0:
        rank = draw(st.integers(0, 3))
        return f"x{rank}", rank
    name = draw(st.sampled_from(sorted(ORACLES)))
    core, result = ([s.count(",") + 1 if s.strip("()") else 0 for s in side.replace("),(", ");(").split(";")] for side in ORACLES[name][0].split("->"))
    args, excess = [], 0
    for rank in core:
        text, found = draw(applications(depth=draw(st.integers(0, depth - 1))))
        if found < rank:  # too few axes is a rep, which NumPy has not
            text, found = f"x{rank}", rank
        args.append(text)
        excess = max(excess, found - rank)
    if excess + result[0] > 4:
        return "x1", 1
    return f"{name}({', '.join(args)})", excess + result[0]


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(applications())
def test_numpy_agrees_on_lifted_functions(case: tuple[str, int]) -> None:
    text, rank = case
    rng = np.random.default_rng(len(text))
    values = {f"x{r}": rng.standard_normal((3,) * r) for r in range(4)}
    params = ", ".join(f"x{r}: f64" + (f"[{', '.join(['k'] * r)}]" if r else "") for r in range(4))
    f = at.fn(source=f"{FUNCTIONS}k = at.sizes('k')\n@at.fn\ndef f({params}):\n    return {text}\n")
    names = {name: np.vectorize(g, signature=signature) for name, (signature, g) in ORACLES.items()}
    expected = eval(text, dict(names), values)  # noqa: S307
    found = np.asarray(f.interpret(*[v if v.ndim else float(v) for v in values.values()]))
    assert found.ndim == rank
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
