"""docs/sources.md, Schenck, row by row: M1 to M56 in our syntax. The row's id is in each test's name.

Sizes are (formal, least): every insertion, and what is minimised, where induced reps are free and break ties (docs/reference.md section 10). Where the
table gives several readings for the thesis' two objectives, ours is the second one with the tie broken.
"""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.elaborate.ranks.constraints import Constraints
from atoll.elaborate.ranks.kinds import SCALAR, RankType, Variable, numbers
from atoll.elaborate.ranks.solve import least
from atoll.errors import NOWHERE
from atoll.sizes import poly
from atoll.surface import syntax as s
from tests.conformance.automap import Reading, expression, readings


def only(found: list[Reading] | str) -> Reading:
    assert isinstance(found, list), found
    assert len(found) == 1, [r.text for r in found]
    return found[0]


UNIQUE = [
    ("M1", "sqrt([1,2,3])", "map(sqrt, [1,2,3])", "[]number", (1, 1)),
    ("M2", "xs + ys", "map(add, xs, ys)", "[]number", (1, 1)),
    ("M3", "xs + 1", "map(add, xs, rep(1))", "[]number", (2, 1)),
    ("M4", "1 + xs", "map(add, rep(1), xs)", "[]number", (1, 1)),
    ("M5", "A + B", "map(lambda a, b: map(add, a, b), A, B)", "[][]number", (2, 2)),
    ("M6", "A + x", "map(lambda a: map(add, a, rep(x)), A)", "[][]number", (4, 2)),
    ("M7", "A + xs", "map(lambda a: map(add, a, xs), A)", "[][]number", (3, 2)),
    ("M8", "xs + A", "map(lambda a: map(add, xs, a), A)", "[][]number", (2, 2)),
    ("M9", "C3 * x", "map(lambda c3: map(lambda y: map(mul, y, rep(x)), c3), C3)", "[][][]number", (6, 3)),
    ("M13a", "sum(map(len, A))", "sum(map(len, A))", "number", (0, 0)),
    ("M13b", "sum(rep(len(A)))", "sum(rep(len(A)))", "number", (0, 0)),
    ("M20", "map(lambda y: xs * y, ys)", "map(lambda y: map(mul, xs, rep(y)), ys)", "[][]number", (2, 1)),
    ("M21", "mapf(lambda y: xs * y, ys)", "mapf(lambda y: map(mul, xs, rep(y)), ys)", "[][]number", (2, 1)),
    ("M22", "map(lambda x: x * ys, xs)", "map(lambda x: map(mul, rep(x), ys), xs)", "[][]number", (1, 1)),
    ("M23", "(lambda x: x * ys)(xs)", "(lambda x: map(mul, x, ys))(xs)", "[]number", (1, 1)),
    ("M24", "sum(A)", "map(sum, A)", "[]number", (1, 1)),
    ("M25a", "len(A)", "len(A)", "number", (0, 0)),
    ("M25b", "reverse(A)", "reverse(A)", "[][]number", (0, 0)),
    ("M25c", "transpose(C3)", "transpose(C3)", "[][][]number", (0, 0)),
    ("M25d", "ident(xs)", "ident(xs)", "[]number", (0, 0)),
    ("M26a", "sum(x)", "sum(rep(x))", "number", (1, 1)),
    ("M26b", "len(x)", "len(rep(x))", "number", (1, 1)),
    ("M27", "xs - sum(xs)", "map(sub, xs, rep(sum(xs)))", "[]number", (2, 1)),
    ("M28", "A - sum(A)", "map(lambda a: map(sub, a, map(sum, A)), A)", "[][]number", (4, 3)),
    ("M29", "sqrt(sqrt(A))", "map(lambda x: map(sqrt, x), map(lambda a: map(sqrt, a), A))", "[][]number", (4, 4)),
    ("M30", "sum(A * xs)", "map(sum, map(lambda a: map(mul, a, xs), A))", "[]number", (4, 3)),
    ("M31", "pipe(indices(A), f)", "pipe(indices(A), rep(f))", "[]number", (1, 1)),
    ("M32", "pipe(indices(A), lambda v: map(f, v))", "pipe(indices(A), lambda v: map(f, v))", "[]number", (0, 0)),
    ("M36a", "[ident(1), xs]", "[ident(rep(1)), xs]", "[][]number", (1, 1)),
    ("M36b", "[ident(f(1)), xs]", "[ident(rep(f(1))), xs]", "[][]number", (1, 1)),
    ("M37", "[(lambda q: q)(1), xs]", "[(lambda q: q)(rep(1)), xs]", "[][]number", (1, 1)),
    ("M46a", "reduce(add, 0, A)", "map(lambda a: reduce(add, 0, a), A)", "[]number", (1, 1)),
    # the size comes last in our repeat, so the number is repeated before there is a frame: 1/1 where the table has 2/1
    ("M49", "repeat(1, xs)", "map(repeat, rep(1), xs)", "[][]number", (1, 1)),
    ("M50a", "all(A == B)", "map(all, map(lambda a, b: map(lambda x, y: x == y, a, b), A, B))", "[]number", (3, 3)),
    ("M50b", "all(flatten(A == B))", "all(flatten(map(lambda a, b: map(lambda x, y: x == y, a, b), A, B)))", "number", (2, 2)),
]


@pytest.mark.parametrize(("row", "text", "elaborated", "kind", "sizes"), UNIQUE, ids=[u[0] for u in UNIQUE])
def test_unique_row(row: str, text: str, elaborated: str, kind: str, sizes: tuple[int, int]) -> None:
    found = only(expression(text))
    assert (found.text, found.type, (found.formal, found.least)) == (elaborated, kind, sizes)


AMBIGUOUS = [
    ("M12", "sum(len(A))", {"sum(map(len, A))", "sum(rep(len(A)))"}, (1, 1)),
    (
        "M45",
        "(lambda x: lambda y: x + y)(xs)",
        {"(lambda x: lambda y: map(add, x, y))(xs)", "map(lambda z: (lambda x: lambda y: x + y)(z), xs)"},
        (1, 1),
    ),
    ("M46b", "reduce(add, xs, A)", {"map(lambda x, a: reduce(add, x, a), xs, A)", "reduce(rep(add), xs, A)"}, (1, 1)),
    ("M48", "mapf(f, A)", {"map(lambda a: mapf(f, a), A)", "mapf(rep(f), A)"}, (1, 1)),
]


@pytest.mark.parametrize(("row", "text", "elaborated", "sizes"), AMBIGUOUS, ids=[a[0] for a in AMBIGUOUS])
def test_ambiguous_row(row: str, text: str, elaborated: set[str], sizes: tuple[int, int]) -> None:
    found = expression(text)
    assert isinstance(found, list)
    assert {r.text for r in found} == elaborated and len(found) == len(elaborated)
    assert {(r.formal, r.least) for r in found} == {sizes}


@pytest.mark.parametrize(
    ("row", "text"), [("M34", "[1, xs]"), ("M35", "[f(1), xs]"), ("M38", "x(f)"), ("M48b", "map(f, A)")], ids=["M34", "M35", "M38", "M48b"]
)
def test_type_error_row(row: str, text: str) -> None:
    assert expression(text) == "type error"


# -- definitions

L = "def L(v, w, t): return v + (w - v) * t\n"
OUTER = "def outerprod(f, xs, ys): return map(lambda x: f(x, ys), xs)\n"
BIDD = OUTER + "def bidd(A): return outerprod(eq, indices(A), indices(A))\n"
XMAT = BIDD + "def xmat(A): return bidd(A) | reverse(bidd(A))\n"
CHECK = XMAT + "def check(A): return all(flatten(xmat(A) == (A != 0)))\n"
DOT = "def dot(u: f64[n], v: f64[n]): return sum(u * v)\n"


def test_M10_a_definition_without_insertion() -> None:
    found = only(readings(L))
    assert (found.type, found.formal, found.least) == ("number, number, number -> number", 0, 0)


@pytest.mark.parametrize(
    ("text", "elaborated", "sizes"),
    [
        ("L(xs, ys, t)", "map(L, xs, ys, rep(t))", (2, 1)),
        ("L(xs, ys, ts)", "map(L, xs, ys, ts)", (1, 1)),
        ("L(x, y, ts)", "map(L, rep(x), rep(y), ts)", (1, 1)),
    ],
)
def test_M11_its_uses_are_lifted(text: str, elaborated: str, sizes: tuple[int, int]) -> None:
    found = only(expression(text, L))
    assert (found.text, found.formal, found.least) == (elaborated, *sizes)


def test_M14_application_is_no_outer_product() -> None:
    found = only(readings("def outerprod(f, xs, ys): return (lambda x: f(x, ys))(xs)"))
    assert (found.type, found.formal) == ("(a, b -> c), a, b -> c", 0)


def test_M15_an_explicit_map_is() -> None:
    found = only(readings(OUTER))
    assert (found.type, found.formal) == ("(a, b -> c), []a, b -> []c", 0)


def test_M16_functions_are_split_before_ranks_are_compared() -> None:
    found = only(readings(BIDD))
    assert found.text == "map(lambda x: outerprod(eq, indices(A), x), indices(A))"
    assert (found.type, found.formal, found.least) == ("[]a -> [][]number", 1, 1)


def test_M17_xmat() -> None:
    found = only(readings(XMAT))
    assert found.text == "map(lambda x, y: map(or_, x, y), bidd(A), reverse(bidd(A)))"
    assert (found.type, found.formal, found.least) == ("[]a -> [][]number", 2, 2)


def test_M18_check_is_ambiguous() -> None:
    found = readings(CHECK)
    assert isinstance(found, list)
    assert {(r.type, r.formal, r.least) for r in found} == {("number -> number", 5, 3), ("[]number -> number", 5, 3)}
    scalar = next(r for r in found if r.type.startswith("number"))
    vector = next(r for r in found if r.type.startswith("[]"))
    assert scalar.text == "all(flatten(map(lambda x: map(lambda y: y == (A != 0), x), xmat(rep(A)))))"
    assert vector.text == "all(flatten(map(lambda x: map(lambda y, z: y == z, x, map(lambda a: a != 0, A)), xmat(A))))"


def test_M19_an_annotation_decides() -> None:
    found = only(expression("all(flatten(xmat(A) == (A != 0)))", XMAT))
    assert (found.formal, found.least) == (6, 4)
    assert found.text == (
        "all(flatten(map(lambda x, y: map(lambda z, u: z == u, x, y), xmat(A), map(lambda a: map(lambda x: x != 0, a), A))))"
    )


@pytest.mark.parametrize(
    ("row", "program", "kind"),
    [
        ("M39", "def app(f, x): return f(x)", "(a -> b), a -> b"),
        ("M40", "def twice(f, x): return f(f(x))", "(a -> a), a -> a"),
    ],
)
def test_M39_M40_second_order_definitions(row: str, program: str, kind: str) -> None:
    found = only(readings(program))
    assert (found.type, found.formal, found.least) == (kind, 0, 0)


def test_M41_dot_without_annotations() -> None:
    found = readings("def dot(u, v): return sum(u * v)")
    assert isinstance(found, list)
    assert {(r.text, r.type) for r in found} == {  # the fourth, u a vector and v repeated, has an induced rep
        ("sum(rep(u * v))", "number, number -> number"),
        ("sum(map(mul, u, v))", "[]number, []number -> number"),
        ("sum(map(mul, rep(u), v))", "number, []number -> number"),
    }
    assert {(r.formal, r.least) for r in found} == {(1, 1)}


def test_M42_dot_with_annotations() -> None:
    found = only(readings(DOT))
    assert (found.text, found.type) == ("sum(map(mul, u, v))", "[]number, []number -> number")


@pytest.mark.parametrize(
    ("text", "elaborated", "sizes"),
    [
        ("dot(A, xs)", "map(dot, A, rep(xs))", (2, 1)),
        ("dot(xs, A)", "map(dot, rep(xs), A)", (1, 1)),
        ("dot(A, B)", "map(dot, A, B)", (1, 1)),
    ],
)
def test_M43_uses_of_dot(text: str, elaborated: str, sizes: tuple[int, int]) -> None:
    found = only(expression(text, DOT))
    assert (found.text, found.type, found.formal, found.least) == (elaborated, "[]number", *sizes)


def test_M44_matrix_product() -> None:
    found = only(expression("map(lambda r: dot(r, transpose(B)), A)", DOT))
    assert (found.text, found.type) == ("map(lambda r: map(dot, rep(r), transpose(B)), A)", "[][]number")
    assert (found.formal, found.least) == (1, 1)


def test_M45_unique_with_an_annotation() -> None:
    found = only(expression("add_to(xs)", "def add_to(x: f64):\n    return lambda y: x + y\n"))
    assert (found.text, found.type, found.least) == ("map(add_to, xs)", "[]number -> []number", 1)


def test_M47_flipping_binaries_is_not_enough() -> None:
    program = (
        "def m(p, v, w): return map(lambda a: map(lambda b: map(lambda c: sqrt(w), [[p(v), [[[1]]]]]), [[w, map(p, [0])]]), "
        "[map(lambda z: z, v)])"
    )
    from tests.conformance.automap import read

    definition, _ = read(program)
    found = set()
    for solution in definition.outcome.solutions():
        by_text = {app.node.span.text(): solution.maps(app) for app in solution.system.applications}
        assert all(solution.reps(app) == 0 for app in solution.system.applications)
        assert solution.size == solution.cost == 4
        found.add((by_text["sqrt(w)"], by_text["p(v)"]))
    assert found == {(1, 3), (2, 2), (3, 1)}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def norm(v): return sum(v * v)", {("sum(map(mul, v, v))", "[]number -> number"), ("sum(rep(v * v))", "number -> number")}),
        ("def g(v): return len(v) + v", {("map(add, rep(len(v)), v)", "[]number -> []number"), ("len(rep(v)) + v", "number -> number")}),
    ],
)
def test_M51_a_number_or_a_vector(program: str, expected: set[tuple[str, str]]) -> None:
    found = readings(program)
    assert isinstance(found, list)
    assert {(r.text, r.type) for r in found} == expected and {(r.formal, r.least) for r in found} == {(1, 1)}


def test_M56_at_size_0_a_floating_rank_is_no_ambiguity() -> None:
    constraints = Constraints()
    variable = RankType(SCALAR.axes, Variable("a"))
    constraints.apply(s.NoneValue(), 0, SCALAR.axes, variable, numbers(2))
    outcome = least(constraints)
    assert outcome.unique and outcome.the_solution().size == 0
    constraints.equal(variable, numbers(1), NOWHERE)  # at size 1 the two solutions are a = 1 with a map, a = 3 with a rep
    (app,) = constraints.applications
    assert least(constraints).the_solution().maps(app) == 1
    other = Constraints()
    variable = RankType(SCALAR.axes, Variable("a"))
    other.apply(s.NoneValue(), 0, SCALAR.axes, variable, numbers(2))
    other.equal(variable, RankType(poly(3), SCALAR.body), NOWHERE)
    assert least(other).the_solution().reps(other.applications[0]) == 1


# -- rows that compute something: the whole compiler against NumPy

HEAD = """
import atoll as at
from atoll import f64, f32
n, m, k = at.sizes("n m k")
@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)
@at.fn
def blend(v: f64, w: f64, t: f64) -> f64:
    return v + (w - v) * t
@at.fn
def row(x: f64, xs: f64[n], ys: f64[n], A: f64[m, n], B: f64[m, n], S: f64[n, n]):
    return {}
"""

rng = np.random.default_rng(3)
X, XS, YS = np.float64(0.5), rng.random(4), rng.random(4)
AA, BB, SS = rng.random((3, 4)), rng.random((3, 4)), rng.random((4, 4))

VALUES = [
    ("M2", "xs + ys", XS + YS),
    ("M3", "xs + 1", XS + 1),
    ("M4", "1 + xs", 1 + XS),
    ("M5", "A + B", AA + BB),
    ("M6", "A + x", AA + X),
    ("M7", "A + xs", AA + XS),
    ("M8", "xs + A", XS + AA),
    ("M11a", "blend(xs, ys, x)", XS + (YS - XS) * X),
    ("M11b", "blend(x, x, ys)", X + (X - X) * YS),
    ("M13", "sum(map(len, A))", np.int64(12)),
    ("M20", "map(lambda y: xs * y, ys)", np.outer(YS, XS)),
    ("M22", "map(lambda v: v * ys, xs)", np.outer(XS, YS)),
    ("M23", "(lambda v: v * ys)(xs)", XS * YS),
    ("M24", "sum(A)", AA.sum(axis=1)),
    ("M25", "reverse(A)", AA[::-1]),
    ("M27", "xs - sum(xs)", XS - XS.sum()),
    ("M28", "S - sum(S)", SS - SS.sum(axis=1)[None, :]),
    ("M29", "sqrt(sqrt(A))", np.sqrt(np.sqrt(AA))),
    ("M30", "sum(A * xs)", AA @ XS),
    ("M43a", "dot(A, xs)", AA @ XS),
    ("M43b", "dot(xs, A)", AA @ XS),
    ("M43c", "dot(A, B)", (AA * BB).sum(axis=1)),
    ("M44", "map(lambda r: dot(r, B), A)", AA @ BB.T),
    ("M46", "reduce(add, 0, A)", AA.sum(axis=1)),
    ("M46c", "reduce(rep(add), xs, A)", XS + AA.sum(axis=0)),
    ("M50", "all(flatten(A == A))", np.bool_(True)),
    ("M55", "map(lambda v: v + 1, rep(x)) + xs", X + 1 + XS),
]


@pytest.mark.parametrize(("row", "text", "expected"), VALUES, ids=[v[0] for v in VALUES])
def test_value_of_row(row: str, text: str, expected: np.ndarray) -> None:  # type: ignore[type-arg]
    f = at.fn(source=HEAD.format(text))
    np.testing.assert_allclose(f.interpret(X, XS, YS, AA, BB, SS), expected, rtol=1e-12)


def test_M33_mri_q() -> None:
    source = """
import atoll as at
from atoll import f64
nK, nX = at.sizes("nK nX")
@at.fn
def mriq(x: f64[nX], y: f64[nX], z: f64[nX], kx: f64[nK], ky: f64[nK], kz: f64[nK], phiR: f64[nK], phiI: f64[nK]):
    phiM = phiR*phiR + phiI*phiI
    angles = 2*pi*(kx*transpose(rep(x)) + ky*transpose(rep(y)) + kz*transpose(rep(z)))
    return sum(cos(angles)*phiM), sum(sin(angles)*phiM)
"""
    from atoll.elaborate.ranks.analysis import read_definition
    from atoll.elaborate.session import Session

    f = at.fn(source=source)
    definition = read_definition(Session(), f)
    assert definition.outcome.unique
    solution = definition.outcome.the_solution()
    assert (solution.size, solution.cost) == (27, 25)
    xs, ks = rng.random((3, 5)), rng.random((5, 3))
    got = f.interpret(*xs, *ks)
    angle = 2 * np.pi * (xs[0][:, None] * ks[0] + xs[1][:, None] * ks[1] + xs[2][:, None] * ks[2])
    weight = ks[3] ** 2 + ks[4] ** 2
    np.testing.assert_allclose(got[0], (np.cos(angle) * weight).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(got[1], (np.sin(angle) * weight).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("row", "text", "code"),
    [
        ("M12", "sum(len(A))", "E0261"),
        ("M25", "transpose(map(lambda v: A, xs))", "E0255"),  # ours refuses: more than two axes have several meanings
        ("M26a", "sum(x)", "E0238"),
        ("M26b", "len(x)", "E0303"),
        ("M28", "A - sum(A)", "E0301"),
        ("M34", "[1, xs]", "E0202"),
        ("M38", "x(xs)", "E0239"),
        ("M46", "reduce(add, xs, S)", "E0261"),
        ("M48", "map(sqrt, A)", "E0263"),
        ("M49", "repeat(1, map(len, [xs, ys]))", "E0310"),  # rows of different sizes
    ],
)
def test_refused_row(row: str, text: str, code: str) -> None:
    with pytest.raises(at.Error) as caught:
        at.fn(source=HEAD.format(text))
    assert caught.value.code == code
