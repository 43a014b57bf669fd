"""The checker of loops: what the compiler makes passes; each rule refuses what breaks it."""

import pytest

import atoll as at
from atoll.loops import ir as lp
from atoll.loops.check import Malformed, check
from atoll.lower.make import compiled_loops, make_loops
from atoll.sizes import Sym, poly
from atoll.types.dtypes import DTYPES, I64

F64 = DTYPES["f64"]
n = Sym("n")


def function(*stmts: lp.Stmt, outputs: tuple[lp.Buffer, ...] = ()) -> lp.Function:
    return lp.Function("f", (n,), [], [lp.Output(b, len(b.extents)) for b in outputs], list(stmts), [])


def buffer(name: str = "b", kind: str = "temp") -> lp.Buffer:
    return lp.Buffer(name, F64, (poly(n),), kind)


def var(name: str = "x") -> lp.Var:
    return lp.Var(name, F64)


ZERO = lp.Const(0.0, F64)
b, x, i = buffer(), var(), Sym("i")
store = lp.Store(b, (poly(i),), ZERO)
loop = lp.For(i, poly(0), poly(n), [store], True)

RIGHT = [
    (lp.Alloc(b), loop, lp.Free(b)),
    (lp.Let(x, ZERO), lp.Let(var("y"), lp.Use(x))),
    (lp.Forever([lp.BreakUnless((lp.Test("ge", poly(n)),))]),),
    (lp.If((lp.Test("ge", poly(n)),), [lp.Alloc(b)], [lp.Alloc(b)]), loop),
]
WRONG = [
    ((loop,), "b is not allocated"),
    ((lp.Alloc(b), lp.Free(b), loop), "b is not allocated"),
    ((lp.Free(b),), "b is freed before it is allocated"),
    ((lp.Alloc(b), store), "the index i is used outside its loop"),
    ((lp.Alloc(b), lp.Store(b, (), ZERO)), "0 indices for 1 axes of b"),
    ((lp.Let(var("y"), lp.Use(x)),), "x is used before it is declared"),
    ((lp.Assign(x, ZERO),), "x is assigned before it is declared"),
    ((lp.For(i, poly(0), poly(n), [lp.Let(x, ZERO)], True), lp.Let(var("y"), lp.Use(x))), "x is used before it is declared"),
    ((lp.Let(x, ZERO), lp.Let(var("x"), ZERO)), "two variables are called x"),
    ((lp.Let(x, ZERO), lp.Let(x, ZERO)), "x is declared twice"),
    ((lp.If((lp.Test("ge", poly(n)),), [lp.Let(x, ZERO)], [lp.Declare(x, ZERO)]),), "x is declared twice"),
    ((lp.BreakUnless((lp.Test("ge", poly(n)),)),), "a break outside a loop"),
    ((lp.Forever([lp.For(i, poly(0), poly(n), [lp.BreakUnless((lp.Test("ge", poly(n)),))], False)]),), "a break outside a loop"),
    ((lp.Alloc(b), loop, loop), "two loops have the index i"),
    ((lp.Alloc(b), lp.For(i, poly(0), poly(n), [loop], True)), "two loops have the index i"),
    ((lp.For(n, poly(0), poly(4), [], True),), "two loops have the index n"),
    ((lp.Alloc(buffer("c", "in")), lp.For(i, poly(0), poly(lp.VarAtom(lp.Var("k", I64))), [], True)), "k is used before it is declared"),
]


@pytest.mark.parametrize("stmts", RIGHT)
def test_well_formed(stmts):
    made = function(*stmts)
    assert check(made) is made


@pytest.mark.parametrize(("stmts", "what"), WRONG)
def test_malformed(stmts, what):
    with pytest.raises(Malformed, match=what):
        check(function(*stmts))


def test_inputs_are_not_written():
    source = buffer("a", "in")
    made = lp.Function("f", (n,), [source], [], [lp.For(i, poly(0), poly(n), [lp.Store(source, (poly(i),), ZERO)], True)], [])
    with pytest.raises(Malformed, match="a is written"):
        check(made)


def test_what_the_compiler_makes_is_well_formed():
    f = at.fn(
        source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n], k: at.i64[n]):\n    s = scan(add, 0.0, sort(x))\n    y = x\n"
        "    for t in range(3):\n        y = [y[k[i]] + s[i] for i in range(n)]\n    return y, sum(y), hist(add, 0.0, 5, [j % 5 for j in k], x)\n"
    )
    check(make_loops(f.core))
    check(compiled_loops(f.core))
