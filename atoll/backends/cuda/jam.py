"""A thread's own rounds of a sum, several at a time (textbook: unroll-and-jam of a reduction, with an accumulator for each copy).

    accumulate s over t in 0..n: s += e(t)      accumulate a, b, c, d over q in 0..n // 4: a += e(4 q); b += e(4 q + 1); c += e(4 q + 2); d += e(4 q + 3)
                                                accumulate r over t in 4 (n // 4)..n: r += e(t)
                                                s = ((a + c) + (b + d)) + r

Additions do not wait for each other, and as many elements are on their way from memory as there are copies (docs/sources.md G2). Right where operators are associative and
commutative, or the program lets floats be added in another order: what is added to what depends on n only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atoll.backends.cuda.threads import Names, neutral
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import I64

BYTES = 32  # of one array, that a thread has on their way
MOST = 8  # copies
_PLAIN = (lp.Let, lp.Declare, lp.Assign, lp.Add, lp.If, lp.Note, lp.For, lp.Accumulate)
LIGHT = 12  # statements of a round that is worth it
FEW = 5  # elements that it reads


class Renaming(Copier):
    """A copy whose variables have names of the kernels."""

    def __init__(self, names: Names, env: Mapping[Atom, Poly]) -> None:
        super().__init__(env)
        self.names = names

    def var(self, var: lp.Var) -> lp.Var:
        new = self.names.var(var.name.split("__k")[0], var.dtype, var.small)
        new.label, new.origin = var.label, var.origin
        self.vars[var] = new
        self.env[var.atom] = poly(new.atom)
        return new


def ways(body: lp.Stmts, env: Mapping[Atom, Poly]) -> int:
    """How many rounds go together; 1 where a round is much by itself."""
    inside, read = list(lp.walk(body)), loads(body)
    if not read or len(inside) > LIGHT or len(read) > FEW or not all(isinstance(s, _PLAIN) for s in inside):
        return 1
    if any(isinstance(s, (lp.For, lp.Accumulate)) and (s.high - s.low).subst(dict(env)) != poly(1) for s in inside):
        return 1
    return max(1, min(MOST, BYTES // max(x.buffer.dtype.size for x in read)))


def jammed(names: Names, body: lp.Stmts, accs: Sequence[lp.Acc], t: Sym, rounds: Poly, at: Mapping[Atom, Poly], env: Mapping[Atom, Poly]) -> list[lp.Stmt] | None:
    """What the rounds t in 0..rounds add, by several copies; None where one is as good. `at`: indices of the body by t; `env`: others that are known."""
    count = ways(body, {**env, **at})
    if count == 1:
        return None
    q, r = names.sym(t.name.split("__")[0]), names.sym(t.name.split("__")[0])
    many = names.var("rounds", I64, True)
    rounds, first = poly(many.atom), lp.Let(many, lp.Call("max", (lp.Index(rounds), lp.Const(0, I64)), I64))
    whole = rounds // count

    def copy(place: Poly) -> tuple[list[lp.Stmt], list[lp.Acc]]:
        """One round, adding to variables of its own."""
        copier = Renaming(names, {s: p.subst({t: place}) for s, p in at.items()})
        own = [lp.Acc(copier.var(a.var), a.monoid) for a in accs]
        return copier.stmts(body), own

    copies, (last, rest) = [copy(count * poly(q) + u) for u in range(count)], copy(poly(r))
    out: list[lp.Stmt] = [
        first,
        lp.Accumulate(q, poly(0), whole, [s for made, _ in copies for s in made], [a for _, own in copies for a in own]),
        lp.Accumulate(r, count * whole, rounds, last, rest),
    ]
    for n, acc in enumerate(accs):
        total = _tree(acc, [lp.Use(own[n].var) for _, own in copies])
        out += [lp.Declare(acc.var, neutral(acc)), lp.Assign(acc.var, _both(acc, total, lp.Use(rest[n].var)))]
    return out


def _both(acc: lp.Acc, a: lp.Expr, b: lp.Expr) -> lp.Call:
    return lp.Call(MONOIDS[acc.monoid][0], (a, b), acc.var.dtype)


def _tree(acc: lp.Acc, values: Sequence[lp.Expr]) -> lp.Expr:
    while len(values) > 1:
        half = len(values) // 2
        values = [_both(acc, values[n], values[n + half]) for n in range(half)] + list(values[2 * half :])
    return values[0]
