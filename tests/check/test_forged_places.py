"""False certificates of compiles: arrays that are made in their place in another one, with indices in another order too; names inside of statements that nobody looks into.

Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v
from tests.check.test_forged_totals import at, plus

Data = dict[str, Any]
IJ = {"i": "i", "j": "j"}


def turned(places: tuple[str, str] = ("j", "i"), high: Any = "m", read: tuple[str, str] = ("i", "j"), stored: tuple[str, str] = ("j", "i"), between: bool = False, twice: bool = False, square: bool = False, value: Any = None) -> Data:
    """t[i, j] = x[i] for all of t, then y[j, i] = t[i, j]: y[j, i] = x[i] at once."""
    e = at("x", "i") if value is None else value
    size = "n" if square else "m"
    rows = ("for", "i", 0, "n", (("for", "j", 0, high if not square else "n", (("store", "t", ("i", "j"), e),)),))
    out = ("for", "j", 0, size, (("for", "i", 0, "n", (("store", "y", stored, at("t", *read)),)),))
    looks = (("store", "z", (0,), at("y", 0, 0)),) if between else ()
    before = (("alloc", "t", "f64", ("n", size)), rows, *looks, out, *((("store", "z", (0,), at("t", 0, 0)),) if twice else ()), ("free", "t"))
    new = (("for", "i", 0, "n", [(("for", "j", 0, high if not square else "n", [(("store", "y", places, e), (3, IJ))]), None)]), None)
    more = [(looks[0], 4)] if between else []
    last = [(("store", "z", (0,), at("y", 0, 0)), 7)] if twice else []
    return forged(before, [new, *more, *last], "n m")


def asked_between(long: Any = "n", high: Any = "n", row: Any = "i", leaves: bool = False, low: Any = 0) -> Data:
    """Rows of y are made in t, something is asked, and then they are put into y: y has room for them whatever is asked."""
    r = v("i") if row == "i" else row
    check = ("check", (("true", ("call", "gt", (at("x", "i"), 0.0), "bool")),), 0)
    leave = (("if", (("true", ("call", "gt", (at("x", "i"), 9.0), "bool")),), (("break", (("true", ("call", "gt", (at("c", "i"), 9.0), "bool")),)),), ()),) if leaves else ()
    inner = (("for", "j", 0, "m", (("store", "t", ("j",), 1.0),)), check, *leave, ("for", "k", 0, "m", (("store", "y", (r, "k"), at("t", "k")),)))
    use = ("store", "z", (0,), at("y", 0, 0))
    rounds = ("for", "i", low, high, inner)
    before = (("alloc", "y", "f64", (long, "m")), ("alloc", "t", "f64", ("m",)), rounds, ("free", "t"), use, ("free", "y"))
    k = 2 if leaves else 0
    i = {"i": "i"}
    left = [(("if", leave[0][1], [(leave[0][2][0], (7, i))], []), (6, i))] if leaves else []
    body = [(("for", "j", 0, "m", [(("store", "y", (r, "j"), 1.0), (4, IJ))]), (3, i)), (check, (5, i)), *left]
    return forged(before, [(before[0], 0), (("for", "i", low, high, body), 2), (use, 9 + k), (("free", "y"), 10 + k)], "n m", arrays="x z c")


def partly(assigned: bool = True, every: bool = True) -> Data:
    """A row that is made with a variable that goes along, all of it."""
    store = ("store", "t", ("j",), ("use", "s"))
    inner = (("assign", "s", plus(("use", "s"), at("x", "j"))), store if every else ("if", (("true", ("call", "gt", (at("x", "j"), 0.0), "bool")),), (store,), ()))
    before = (("declare", "s", "f64", 0.0), ("alloc", "t", "f64", ("n",)), ("for", "j", 0, "n", inner), ("for", "i", 0, "n", (("store", "y", ("i",), at("t", "i")),)), ("free", "t"))
    j = {"j": "j"}
    new = (("store", "y", ("j",), ("use", "s")), (4 if every else 5, j))
    body = [(inner[0], (3, j)), new if every else (("if", inner[1][1], [new], []), (4, j))]
    return forged(before, [(before[0], 0), (("for", "j", 0, "n", body), 2)])


def inside(named: str = "p2", root: str = "p", use: str = "p2", second: str = "q2", roots: dict[str, str] | None = None, d: str = "f64", test: str = "gt", outer: bool = False) -> Data:
    """A loop that ends by itself, with names of its own, and a store that comes before or after."""
    def loop(a: str, c: str, used: str, op: str = "gt", t: str = "f64") -> Any:
        body = (("let", a, t, at("x", "k")), ("let", c, "f64", plus(("use", used), 1.0)), ("break", (("true", ("call", op, (("use", c), 0.0), "bool")),)), ("assign", "k", ("index", v("k") + 1)))
        return ("forever", body)

    names = (("let", "p0", "f64", 7.0),) if outer else ()
    count, store, last = ("declare", "k", "i64", ("index", 0)), ("store", "z", (0,), 1.0), ("store", "y", (0,), ("cast", ("use", "k"), "f64"))
    old = loop("p", "q", "p0" if outer else "p")
    new = loop(named, second, use, test, d)
    n = len(names)
    mapping = {"p2": root, "q2": "q"} if roots is None else roots
    inner = [(s, 3 + n + k) for k, s in enumerate(new[1])]
    return forged((*names, count, store, old, last), [*[(x, 0) for x in names], (count, n), (("forever", inner), n + 2), (store, n + 1), (last, n + 7)], roots=mapping)


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "turned: not turned": (lambda: turned(square=True), lambda: turned(("i", "j"), square=True)),
    "turned: read as it stands": (lambda: turned(square=True), lambda: turned(square=True, read=("j", "i"))),
    "turned: one element": (lambda: turned(square=True), lambda: turned(square=True, read=("i", "i"))),
    "turned: into one row": (lambda: turned(square=True), lambda: turned(("i", "i"), square=True)),
    "turned: not all of it": (turned, lambda: turned(high=v("m") - 1)),
    "turned: the other one is read before": (turned, lambda: turned(between=True)),
    "turned: read again": (turned, lambda: turned(twice=True)),
    "turned: of what it is made into": (turned, lambda: turned(value=at("y", "i", 0))),
    "asked: a row less is there": (asked_between, lambda: asked_between(long=v("n") - 1)),
    "asked: a row more is made": (asked_between, lambda: asked_between(high=v("n") + 1)),
    "asked: the row after": (asked_between, lambda: asked_between(row=v("i") + 1)),
    "asked: a row before": (asked_between, lambda: asked_between(low=-1)),
    "asked: left between": (asked_between, lambda: asked_between(leaves=True)),
    "partly: only where": (partly, lambda: partly(every=False)),
    "inside: tested otherwise": (inside, lambda: inside(test="ge")),
    "inside: another one is read": (lambda: inside(use="p2"), lambda: inside(use="q2")),
    "inside: two of one name": (inside, lambda: inside(roots={"p2": "q", "q2": "q"})),
    "inside: of another type": (inside, lambda: inside(d="f32")),
    "inside: exchanged": (inside, lambda: inside(roots={"p2": "q", "q2": "p"})),
    "inside: one from outside": (lambda: inside(use="p0", outer=True), lambda: inside(use="p2", outer=True)),
    "inside: the one outside is another": (lambda: inside(use="p0", outer=True), lambda: inside(use="p2", outer=True, roots={"p2": "p0", "q2": "q"})),
}


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected):
        prove(wrong())
