"""Nests of loops as functions of their own, in programs that are long: C compilers need more than linear time for a function, and equal nests are then
one (units.py). A long branch in a loop (a search by blocks, beside the loop for a few elements) is one too, in every program: what stands beside it is
then compiled without it, by the first version in particular (runtime/first_version.py), which must optimise what calls `exp` but not what looks for the largest.
So is a loop that calls `exp` and the like in a large program, where much else stands around it: that is all of a function which the first version must optimise.

A nest takes what it reads by value, arrays by `restrict` pointers as pieces do, and the variables it sets by address: it works on copies, which it
gives back.
"""

from __future__ import annotations

from atoll.backends.c import ops
from atoll.backends.c.lengths import lines
from atoll.backends.c.piece_text import Pieces
from atoll.backends.c.text import safe
from atoll.backends.c.used import collect
from atoll.loops import ir as lp
from atoll.loops.questions import calls, may_fail

_SHORT = 24  # lines of a nest that are not worth a function
_BRANCH = 60  # lines of a branch that are
_AROUND = 24  # lines around a loop that calls functions which are not exact, that are worth compiling without it


class Apart(Pieces):
    def is_apart(self, loop: lp.For) -> bool:
        """A nest that becomes a function here."""
        if not self.spacious or self.quiet or loop.vector or loop.unroll or loop.scan or self.is_innermost(loop.body):
            return False
        return lines([loop]) >= _SHORT and self.is_closed([loop])

    def is_branch_apart(self, branch: lp.If) -> bool:
        """A branch in a loop that becomes a function here."""
        if not self.dialect.hosted or self.quiet or not self.nesting or lines([branch]) < _BRANCH:
            return False
        inside = list(lp.walk([branch]))
        has_loops = any(isinstance(s, (lp.For, lp.Forever, lp.Accumulate)) for s in inside)  # beside which a call is nothing
        plain = not any(isinstance(s, (lp.Chunks, lp.Product, lp.Alloc, lp.Free, lp.Check, lp.Print)) for s in inside)
        return has_loops and plain and not _leaves([branch]) and self.is_closed([branch])

    def is_rounded_apart(self, loop: lp.For | lp.Accumulate) -> bool:
        """A loop of vectors of `exp` and the like that becomes a function here."""
        if not self.is_large or self.quiet or not self.nesting or self.length - lines([loop]) < _AROUND or not self.is_innermost(loop.body):
            return False
        return any(ops.is_rounded(e.op, e.dtype) for e in calls(loop.body)) and not may_fail(loop.body) and self.is_closed([loop])

    def is_closed(self, nests: lp.Stmts) -> bool:
        return _is_closed(nests) and self.planes.isdisjoint(collect(nests, set()).buffers)

    def branch(self, branch: lp.If) -> None:
        with self.braces(f"if ({self.tests(branch.tests)})"):
            self.stmts(branch.then)
        if branch.orelse:
            with self.braces("else"):
                self.stmts(branch.orelse)

    def apart(self, nests: lp.Stmts) -> None:
        """Loops or branches as a function, and its call."""
        used = collect(nests, set())
        set_here = {s.var for s in lp.walk(nests) if isinstance(s, lp.Assign)}
        changed = [v for v in used.vars if v in set_here]
        used.vars = {v: None for v in used.vars if v not in set_here}
        results = [acc.var for nest in nests if isinstance(nest, lp.Accumulate) for acc in nest.accs]
        params = self.params(used, nests)
        name = f"{self.prefix}_nest{self.pieces}"
        self.pieces += 1
        quiet = self.quiet
        with self.unit(name), self.function_text():
            self.quiet = quiet
            self.spacious = self.is_long([inner for nest in nests for body in lp.bodies(nest) for inner in body])
            given = ["at_call *at", *(f"{t} {n}" for t, n, _ in params), *(f"{v.dtype.c_name} *{safe(v.name)}_io" for v in [*changed, *results])]
            start = len(self.lines)
            with self.braces(f"AT_PIECE int {name}({', '.join(given)})"):
                self.locals()
                for v in changed:
                    self.declare(v, f"*{safe(v.name)}_io", False)
                for nest in nests:
                    if isinstance(nest, lp.For):
                        self.loop(nest)
                    elif isinstance(nest, lp.Accumulate):
                        self.accumulate(nest)
                    else:
                        assert isinstance(nest, lp.If)
                        self.branch(nest)
                for v in results:
                    self.put(f"*{safe(v.name)}_io = {safe(v.name)};")
                self.finish([f"*{safe(v.name)}_io = {safe(v.name)};" for v in changed])
            may_stop = self.uses_done
            if not may_stop:
                self.lines.insert(start + 1, "    (void)at;")
        for v in results:
            self.put(f"{v.dtype.c_name} {safe(v.name)};")
        call = f"{self.unit_names[name]}({', '.join(['at', *(a for _, _, a in params), *(f'&{safe(v.name)}' for v in [*changed, *results])])})"
        if may_stop:
            self.uses_done = True
        self.put(f"if ((status = {call}) != 0) goto done;" if may_stop else f"{call};")


def _leaves(stmts: lp.Stmts) -> bool:
    """It ends a loop around it."""
    return any(isinstance(s, lp.BreakUnless) or (not isinstance(s, lp.Forever) and any(_leaves(body) for body in lp.bodies(s))) for s in stmts)


def _is_closed(nests: lp.Stmts) -> bool:
    """Nothing is left to the code around but elements of arrays and variables that are set."""
    inside = list(lp.walk(nests))
    made = {a.var for s in inside if isinstance(s, lp.Accumulate) for a in s.accs} | {s.var for s in inside if isinstance(s, lp.Declare)}
    added = {s.var for s in inside if isinstance(s, lp.Add)} | {a.var for s in inside if isinstance(s, lp.Chunks) for a in s.accs}
    taken = {s.buffer for s in inside if isinstance(s, lp.Alloc)}
    given = {s.buffer for s in inside if isinstance(s, lp.Free)}
    if any(isinstance(s, lp.Swap) or (isinstance(s, lp.Helper) and s.name == "settle") for s in inside):
        return False
    if not added <= made or any(b.kind == "out" for b in taken) or {b for b in taken if not b.local} != {b for b in given if not b.local}:
        return False
    return not any(b.local and b not in taken for b in collect(nests, set()).buffers)
