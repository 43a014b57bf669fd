"""The checker's obligations on loops: what obligations.py proves, looked up in the certificate's table under recomputed hypotheses.

C1 and C5: every index in range. C9: every read, and every cell of a result, has been written before, in the round the certificate names. C2,
C3 and races: proofs by order, where the certificate has them; where it has none, that the loops are destination passing of a term whose
truncations drop nothing (loops.py, C4) says that different cells stay different. C6, C8, C10: extents, names, divisors.
"""

from __future__ import annotations

from typing import Any

from atoll.check.loops import Match, Stmt
from atoll.check.sums import ONE, Facts, Poly, Proofs, add, const, divisors, free, mul, need, sub, subst, unknown, var
from atoll.check.terms import below, test_facts

Frame = tuple[Any, ...]  # ("for", stmt) or ("if", node, tests, taken)


class Access:
    __slots__ = ("kind", "buffer", "index", "stmt", "frames", "known", "order")

    def __init__(self, kind: str, buffer: str, index: tuple[Poly, ...], stmt: Stmt, frames: tuple[Frame, ...], known: tuple[Poly, ...], order: int) -> None:
        self.kind, self.buffer, self.index, self.stmt = kind, buffer, index, stmt
        self.frames, self.known, self.order = frames, known, order

    @property
    def loops(self) -> list[Stmt]:
        return [f[1] for f in self.frames if f[0] == "for"]


class Nests:
    def __init__(
        self, proofs: Proofs, match: Match, sizes: frozenset[str], given: dict[str, tuple[Poly, ...]], scalars: list[str], outputs: dict[str, tuple[Poly, ...]]
    ) -> None:
        self.proofs, self.match, self.sizes = proofs, match, sizes
        self.extents = {**given, **outputs}
        self.given, self.outputs = set(given), set(outputs)
        self.scalars = scalars
        self.allocated: dict[str, int] = {}
        self.accesses: list[Access] = []
        self.loops: list[tuple[Stmt, int]] = []
        self.names: set[str] = set(sizes)
        self.numbers: set[str] = set()  # variables that elements are looked up by; no two of one name anywhere
        self.scope: frozenset[str] = frozenset()
        self.order = 0
        self.counts: dict[str, int] = {}

    # -- reading

    def facts(self, frames: tuple[Frame, ...]) -> tuple[Poly, ...]:
        found = list(self.known)
        for f in frames:
            if f[0] == "for":
                found += [sub(var(f[1][1]), f[1][2]), below(var(f[1][1]), f[1][3])]
            else:
                found += test_facts(f[2], f[3])
        return tuple(found)

    def read(self, stmts: tuple[Stmt, ...], frames: tuple[Frame, ...]) -> None:
        outside = self.scope
        for x in stmts:
            self.order += 1
            match x[0]:
                case "for":
                    need(x[1] not in self.names | self.scope | self.numbers, "C8:", x[1], "stands twice")
                    self.names.add(x[1])
                    self.count("C8")
                    self.loops.append((x, sum(f[0] == "for" for f in frames)))
                    self.polys((x[2], x[3]), frames)
                    self.read(x[5], (*frames, ("for", x)))
                case "if":
                    self.tests(x[1], frames, x)
                    self.read(x[2], (*frames, ("if", x, x[1], True)))
                    self.read(x[3], (*frames, ("if", x, x[1], False)))
                case "store" | "update":
                    self.expr(x[-2], frames, x)
                    self.access(x[0], x[1], x[2], x, frames)
                case "set" | "declare":
                    if x[-1] is not None:
                        self.expr(x[-1], frames, x)
                    self.bind(x[1])
                    if x[0] == "set" and x[2] == "i64":
                        self.numbers.add(x[1])
                case "assign":
                    self.expr(x[-1], frames, x)
                    need(x[1] in self.scope and x[1] not in self.scalars and x[1] not in self.numbers, "C8: no variable", x[1])
                case "alloc":
                    need(x[1] not in self.extents, "C8: two buffers", x[1])
                    self.bind(x[1])
                    self.extents[x[1]] = x[3]
                    self.allocated[x[1]] = sum(f[0] == "for" for f in frames)
                    need(all(free(n) <= self.sizes for n in x[3]), "C6: the extent of", x[1])
                    self.count("C6")
                    self.polys(x[3], frames)
                case "section":
                    self.polys(x[2], frames)
                    need(set(x[3]) <= self.scope, "C8: an opaque part reads what is not there")
                case "free":
                    need(x[1] in self.allocated and x[1] in self.scope, "C8: nothing to free:", x[1])
                    self.scope = self.scope - {x[1]}
        self.scope = outside

    def bind(self, name: str) -> None:
        """A variable or an array: its name means nothing else from here to the end of these statements."""
        need(name not in self.scope | self.names | self.numbers, "C8:", name, "stands twice")
        self.scope = self.scope | {name}
        self.count("C8")

    def access(self, kind: str, buffer: str, index: tuple[Poly, ...], stmt: Stmt, frames: tuple[Frame, ...]) -> None:
        need(buffer in self.extents and buffer in self.scope and len(index) == len(self.extents[buffer]), "no buffer", buffer)
        need(kind == "read" or buffer not in self.given, buffer, "is only read")
        known = self.facts(frames)
        self.polys(index, frames, kind == "read")
        ctx = Facts(known)
        for p, n in zip(index, self.extents[buffer], strict=True):
            for goal in (p, below(p, n)):
                self.ge("C5" if kind == "read" else "C1", ctx, goal, buffer)
        self.accesses.append(Access(kind, buffer, index, stmt, frames, known, self.order))

    def expr(self, e: Any, frames: tuple[Frame, ...], stmt: Stmt) -> None:
        match e[0]:
            case "use":
                need(e[1] in self.scope and e[1] not in self.extents, "C8: no variable", e[1])
            case "load":
                self.access("read", e[1], e[2], stmt, frames)
            case "index":
                self.polys((e[1],), frames)
            case "call":
                for a in e[2]:
                    self.expr(a, frames, stmt)
            case "cast":
                self.expr(e[1], frames, stmt)
            case "choose":
                self.tests(e[1], frames, stmt)
                self.expr(e[2], (*frames, ("if", e, e[1], True)), stmt)
                self.expr(e[3], (*frames, ("if", e, e[1], False)), stmt)
            case "truth":
                self.tests(e[1], frames, stmt)

    def tests(self, tests: Any, frames: tuple[Frame, ...], stmt: Stmt) -> None:
        for k, (_, p, e) in enumerate(tests):
            before = (*frames, ("if", (stmt, k), tests[:k], True)) if k else frames
            if p is not None:
                self.polys((p,), before, True)
            else:
                self.expr(e, before, stmt)

    def polys(self, ps: tuple[Poly, ...], frames: tuple[Frame, ...], data: bool = False) -> None:
        """`data`: numbers that elements are looked up by may stand in them."""
        known = self.sizes | {f[1][1] for f in frames if f[0] == "for"} | (self.numbers & self.scope if data else frozenset())
        for p in ps:
            need(free(p) <= known, "C8: not in scope:", *sorted(free(p) - known))
            for d in divisors(p):
                self.ge("C10", Facts(self.facts(frames)), sub(d, ONE), "a divisor")

    # -- proving

    def count(self, kind: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def ge(self, kind: str, ctx: Facts, goal: Poly, what: object) -> None:
        need(self.proofs.holds(ctx, goal), f"{kind}:", what)
        self.count(kind)

    def run(self, body: tuple[Stmt, ...], known: tuple[Poly, ...], data: dict[str, Any], poly: Any) -> None:
        self.known, self.poly, self.body = known, poly, body
        arguments = [*self.given, *self.outputs, *self.scalars]
        need(len(set(arguments)) == len(arguments) and not set(arguments) & self.sizes - set(self.match.params), "C8: two arguments in one place")
        self.scope = frozenset(arguments)
        self.read(body, ())
        stores = [a for a in self.accesses if a.kind != "read"]
        need({a.stmt[-1] for a in stores} == self.match.seen, "a store that is in no term")
        self.written(data)
        self.separated(stores, data)
        self.races(data)

    # -- C9

    def written(self, data: dict[str, Any]) -> None:
        trees = {k: tree for k, tree in data["covers"]}
        for k, a in enumerate(self.accesses):
            self_read = a.kind == "read" and a.stmt[0] == "store" and a.stmt[1] == a.buffer and a.stmt[2] == a.index
            if a.kind == "update" or self_read or (a.kind == "read" and a.buffer not in self.given and a.buffer not in self.match.opaque):
                need(k in trees, "C9: nothing says who writes", a.buffer)
                self.cover(Facts(a.known), trees[k], a)
                if a.buffer in self.match.rolled:
                    advance, rows = self.match.rolled[a.buffer]
                    around = [x[1] for x in a.loops if x[1] in advance]  # one of them: names stand once, and neither loop is inside the other
                    need(around, "C9: no loop that advances around", a.buffer)
                    newest = add(var(around[0]), advance[around[0]])
                    self.ge("C9", Facts(a.known), add(sub(a.index[0], newest), const(rows - 1)), a.buffer)
        dispatched = len(self.body) == 1 and self.body[0][0] == "if" and data["base"] is not None
        done = set()
        for name, us, tree, main in data["results"]:
            need(name in self.outputs and len(us) == len(self.extents[name]) and not set(us) & self.names and len(set(us)) == len(us))
            frames: tuple[Frame, ...] = (("if", self.body[0], self.body[0][1], main),) if dispatched else ()
            index = tuple(var(u) for u in us)
            known = self.facts(frames) + tuple(p for u, n in zip(index, self.extents[name], strict=True) for p in (u, below(u, n)))
            self.cover(Facts(known), tree, Access("read", name, index, (), frames, known, 1 << 60), frozenset(map(unknown, us)))
            done.add((name, main))
        need(done == {(name, main) for name in self.outputs for main in ((True, False) if dispatched else (True,))}, "C9: a result is not covered")

    def cover(self, ctx: Facts, tree: Any, reader: Access, cell: frozenset[str] = frozenset()) -> None:
        """The store a tree names runs before the reader, in the round it says, and writes that cell. A round is what the tree says of the
        writer's own loops, in terms of the reader's and of the cell: nothing else can be replaced."""
        here = self.sizes | {x[1] for x in reader.loops} | cell | frozenset(v for p in reader.index for v in free(p) if v in self.numbers)
        if len(tree) == 3:
            test = self.poly(tree[0])
            need(free(test) <= here, "C9: a test on something else")
            self.cover(ctx.add(test), tree[1], reader, cell)
            self.cover(ctx.add(sub(const(-1), test)), tree[2], reader, cell)
            return
        need(type(tree[0]) is int and 0 <= tree[0] < len(self.accesses), "C9: no such store")
        writer = self.accesses[tree[0]]
        env = {v: self.poly(p) for v, p in tree[1]}
        need(len(env) == len(tree[1]) and set(env) <= {x[1] for x in writer.loops}, "C9: a round of no loop around the store")
        need(all(free(p) <= here for p in env.values()), "C9: a round that depends on something else")
        need(writer.kind != "read" and writer.buffer == reader.buffer and writer.order < reader.order, "C9:", reader.buffer)
        same = True
        for k, frame in enumerate(writer.frames):
            same = same and k < len(reader.frames) and same_frame(frame, reader.frames[k])
            self.reached(ctx, frame, env, same)
            same = same and not (frame[0] == "for" and frame[1][1] in env)
        for p, q in zip(writer.index, reader.index, strict=True):
            need(self.proofs.equal(ctx, subst(p, env), q), "C9: another cell of", reader.buffer)
        self.count("C9")

    def reached(self, ctx: Facts, frame: Frame, env: dict[str, Poly], shared: bool) -> None:
        if frame[0] == "for":
            sym, low, high, flags = frame[1][1:5]
            if sym in env:
                if shared:
                    need(not (flags[0] or flags[3]), "C9: carried from round to round of", sym)
                    self.ge("C9", ctx, sub(var(sym), env[sym]), sym)
                self.ge("C9", ctx, sub(env[sym], subst(low, env)), sym)
                self.ge("C9", ctx, below(env[sym], subst(high, env)), sym)
            else:
                need(shared, "C9: in no particular round of", sym)
            return
        if shared:
            return
        tests = [subst(p, env) for kind, p, _ in frame[2] if kind == "ge"]
        if frame[3]:
            need(len(tests) == len(frame[2]), "C9: under a test on data")
            for p in tests:
                self.ge("C9", ctx, p, "a test")
        else:
            need(any(self.proofs.holds(ctx, sub(const(-1), p)) for p in tests), "C9: no test is known to fail")

    # -- C2, C3, races

    def line(self, kind: str, line: Any, a: Access, b: Access, settled: set[str], outer: set[str]) -> None:
        """One proof by order between a and a copy of b."""
        loop, copies, further, weights, sign = line
        need(not self.numbers & {v for p in (*a.index, *b.index) for v in free(p)}, kind, "an element that is looked up")  # another round has another number
        env = {v: var(c) for v, c in copies}
        mine = {x[1] for x in b.loops}
        need(set(env) == mine - outer - settled, kind, "another copy")
        fresh = {unknown(c) for _, c in copies}
        need(len(fresh) == len(copies) and not fresh & (self.names | self.sizes | mine), kind, "a copy that is not new")
        known = [*a.known, *(subst(p, env) for p in b.known if free(p) & env.keys())]
        if loop is not None:
            need(loop in env and further in (1, -1))
            known.append(sub(sub(var(loop), env[loop]), ONE) if further == 1 else sub(sub(env[loop], var(loop)), ONE))
        difference: Poly = ()
        inside = {x[1] for x in (*a.loops, *b.loops)} - outer
        for w, k in weights:
            need(type(k) is int and 0 <= k < len(a.index), kind, "no component")
            weight = self.poly(w)
            need(not free(weight) & inside, kind, "a weight that changes")
            difference = add(difference, mul(weight, sub(a.index[k], subst(b.index[k], env))))
        need(sign in (1, -1))
        self.ge(kind, Facts(tuple(known)), sub(mul(const(sign), difference), ONE), a.buffer)

    def separated(self, stores: list[Access], data: dict[str, Any]) -> None:
        number = {id(a): k for k, a in enumerate(self.accesses)}
        lines = {k: found for k, found in data["injective"]}
        rolling = {j for advance, _ in self.match.rolled.values() for j in advance}
        for a in stores:
            need(number[id(a)] in lines, "C2:", a.buffer)
            found, depth = lines[number[id(a)]], self.allocated.get(a.buffer, 0)
            if found is not None:
                settled: set[str] = set()
                for line in found:
                    need(line[2] == 1, "C2")
                    self.line("C2", line, a, a, settled, {x[1] for x in a.loops[:depth]})
                    settled.add(line[0])
                need(settled >= {x[1] for x in a.loops[depth:] if x[4][0] or x[1] in rolling}, "C2: not settled")
        apart = {(x, y): found for x, y, found in data["disjoint"]}
        for i, a in enumerate(stores):
            for b in stores[i + 1 :]:
                arms = dict(self.match.arms[a.stmt[-1]])
                if a.buffer != b.buffer or not any(c in arms and arms[c] != s for c, s in self.match.arms[b.stmt[-1]]):
                    continue
                key = (number[id(a)], number[id(b)])
                need(key in apart, "C3:", a.buffer)
                if apart[key] is not None:
                    self.disjoint(a, b, apart[key])

    def disjoint(self, a: Access, b: Access, found: list[Any]) -> None:
        shared = 0
        for x, y in zip(a.frames, b.frames, strict=False):
            if not same_frame(x, y):
                break
            shared += x[0] == "for"
        outer = {x[1] for x in a.loops[: min(self.allocated.get(a.buffer, 0), shared)]}
        common = {x[1] for x in a.loops[:shared]} - outer
        settled: set[str] = set()
        ways: dict[str, set[int]] = {}
        for line in found:
            self.line("C3", line, a, b, settled, outer)
            if line[0] is None:
                return
            need(line[0] in common, "C3")
            ways.setdefault(line[0], set()).add(line[2])
            if len(ways[line[0]]) == 2:
                settled.add(line[0])
        need(False, "C3: not settled")

    def races(self, data: dict[str, Any]) -> None:
        found = {(loop, a, b): lines for loop, a, b, lines in data["races"]}
        for x, depth in self.loops:
            parallel, vector, _, pieces = x[4]
            innermost = not any(s[0] == "for" for s in statements(x[5]))
            if not (pieces or vector or (parallel and innermost)):
                continue
            need(parallel, "a race in", x[1])
            inside = [(k, a) for k, a in enumerate(self.accesses) if len(a.loops) > depth and a.loops[depth] is x]
            for n, (i, a) in enumerate(inside):
                for j, b in inside[n:]:
                    if a.buffer != b.buffer or a.kind == b.kind == "read" or self.allocated.get(a.buffer, 0) > depth or a.buffer in self.given:
                        continue
                    first, second = ((j, b), (i, a)) if a.kind == "read" else ((i, a), (j, b))
                    key = (x[1], first[0], second[0])
                    need(key in found, "race: nothing said about", a.buffer, "in", x[1])
                    lines = found[key]
                    if lines is None:
                        own = second[1].kind != "read" or second[1].stmt is first[1].stmt
                        need(own, "race: a read of what another round may write")
                        continue
                    outer = {y[1] for y in a.loops[:depth]}
                    for line in lines:
                        need(line[0] == x[1], "race")
                        self.line("race", line, first[1], second[1], set(), outer)
                    need({line[2] for line in lines} == {1, -1} or (i == j and {line[2] for line in lines} == {1}), "race: not settled")


def same_frame(a: Frame, b: Frame) -> bool:
    return bool(a[0] == b[0] and (a[1] is b[1] if a[0] == "for" else a[1] is b[1] and a[3] == b[3]))


def statements(stmts: tuple[Stmt, ...]) -> list[Stmt]:
    """Also those inside others."""
    found: list[Stmt] = []
    for x in stmts:
        found.append(x)
        if x[0] == "for":
            found += statements(x[5])
        elif x[0] == "if":
            found += statements(x[2]) + statements(x[3])
    return found
