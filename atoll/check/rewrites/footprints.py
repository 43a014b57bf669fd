"""What an instance touches: elements, variables in their round, and the marks by which checks keep their place before what they guard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atoll.check.rewrites.language import LEAVES, changed, is_poly, loads, names, parts, read, subexprs, walk
from atoll.check.rewrites.leaves import Leaf, No
from atoll.check.rewrites.refute import Cond
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.texts import may_trap
from atoll.check.sums import Poly, const, divisors, sub, value

FAILS = {"check", "print", "helper", "break", "forever"}
CHECK, BREAK = ("check",), ("break",)
Cell = tuple[Any, tuple[Poly, ...] | None, bool]  # what it is, which element, whether it is written


class Footprints:
    kinds: Kinds
    vars: set[str]  # variables that are assigned in the region
    made: dict[str, Leaf]  # where names were made
    homes: dict[str, Leaf]  # where arrays were made
    moving: frozenset[str]
    checked: bool  # something may fail here

    def holds(self, c: Cond, x: Leaf) -> bool:
        raise NotImplementedError

    def root(self, v: str) -> str:
        raise NotImplementedError

    def cells(self, x: Leaf) -> Iterator[Cell]:
        """What an instance touches: elements and variables in their round, and whether it writes them. None: any element.
        What comes before a check may come after it, not the other way round."""
        s = x.stmt
        conds = [c[1] for c in (*x.conds, *(c for g in x.groups for case in g for c in case)) if c[0] == "op"]
        decides = [c[1] for c in (*x.conds, *(c for g in x.groups for case in g for c in case)) if c[0] != "op"]
        if s[0] == "acc":
            yield self.variable(x, s[1], True)
            return
        whole = s[0] not in LEAVES
        variables, arrays = read((s,))
        reads = [e for p in parts(s) for e in loads(p)] if not whole else []
        for key in conds:
            e = key[1] if len(key) == 2 and key[0] in ("ge", "eq", "ne") else key
            variables |= names(e)
            reads += list(loads(e))
        for p in decides:
            variables |= names(p)
        for e in reads:
            yield self.element(x, e[1], e[2], False)
        if s[0] in ("store", "update"):
            yield self.element(x, s[1], s[2], True)
        if whole:
            assigned, written = changed((s,))
            for b in sorted(arrays | written):
                yield self.element(x, b, None, b in written)
            for v in sorted(assigned):
                yield self.variable(x, v, True)
        for v in sorted(variables):
            if v in self.vars or self.root(v) in self.vars:
                yield self.variable(x, v, False)
        if s[0] in ("assign", "add", "declare"):
            yield self.variable(x, s[1], True)
        for name, v in x.lanes:
            if self.made[v].stmt[0] == "let":  # a name that is kept: it is there when it is read
                yield ("lane", name), tuple(x.round[i] for i in self.made[v].syms), s[0] == "let" and s[1] == name
        if s[0] == "break":  # the loop that is left is around all of this
            if x.syms:
                raise No("a loop that may be left")
            yield BREAK, (), True
        elif s[0] not in ("let", "check"):
            yield BREAK, (), False
        memory = s[0] in ("alloc", "free", "copy", "swap") or (s[0] == "product" and not {x[0] for x in walk((s,))} & FAILS)  # nothing that a program asks about fails in them
        if s[0] == "check" or (whole and not memory):  # which of them fails first, and what they guard
            yield CHECK, (), True
        elif memory or reads or self.guarded(x) or (s[0] in ("store", "update") and not self.fills(x)):
            yield CHECK, (), False

    def fills(self, x: Leaf) -> bool:
        """It stores in an array that is as long as it has to be, whatever is checked later."""
        s = x.stmt
        long = self.kinds.extents.get(s[1]) if s[0] == "store" and self.checked else None
        if long is None or len(long) != len(s[2]) or any(names(p) & self.moving for p in (*long, *s[2])):
            return False
        return all(self.holds(("ge", p), x) and self.holds(("ge", sub(sub(n, p), const(1))), x) for p, n in zip(s[2], long, strict=True))

    def guarded(self, x: Leaf) -> bool:
        """Checks may have to come before it: it reads elements, or divides by what is not seen to be 1 or more."""
        seen = {c[1] for c in x.conds if c[0] == "ge"}

        def traps(e: Any) -> bool:
            return any(value(d) is None and sub(d, const(1)) not in seen for d in divisors(e)) if is_poly(e) else may_trap(e)

        kept = [c[1][1] if len(c[1]) == 2 and c[1][0] in ("ge", "eq", "ne") else c[1] for c in (*x.conds, *(c for g in x.groups for case in g for c in case)) if c[0] == "op"]
        return any(any(True for _ in loads(e)) or any(map(traps, subexprs(e))) for e in (*parts(x.stmt), *kept))

    def variable(self, x: Leaf, v: str, writes: bool) -> Cell:
        root = self.root(v)
        first = self.made.get(root)
        if first is None:
            return ("var", root), (), writes
        return ("var", root), tuple(x.round[s] for s in first.syms) if all(s in x.round for s in first.syms) else None, writes

    def element(self, x: Leaf, b: str, index: tuple[Poly, ...] | None, writes: bool) -> Cell:
        home = self.homes.get(b)
        around = () if home is None else tuple(x.round[s] for s in home.syms if s in x.round)
        if index is None:
            return ("array", b), None, writes
        if self.kinds[b][2] is not None:  # rows that are kept are at i % rows
            index = index[1:]
        return ("array", b), (*around, *index), writes
