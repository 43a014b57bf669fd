"""Certificates: everything a schedule claims, with the proofs, as one JSON file. `atoll prove FILE.cert` reads it back without us.

What is in it: the program's hash, the source term, every rule with its position, arguments and result, the loops, how every cell comes to be
written (C9), why stores do not meet (C2, C3, races), a table of proofs keyed by goal, the float licence, captured constants, memory, and
the C that was printed. Hypotheses are not stored: the checker recomputes them at each position, and a proof is good if what
it cites is among them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.check.encode import Encoder, Unprovable, number
from atoll.check.obligations import Report
from atoll.check.prove import prove
from atoll.check.separate import Line
from atoll.check.sums import Rejected
from atoll.core.fingerprint import fingerprint
from atoll.errors import fail
from atoll.errors.plain import all_plain
from atoll.loops import ir as lp
from atoll.schedule.cover import Hit, Tree
from atoll.schedule.kernel import StepRecord, trusted
from atoll.schedule.rules_lets import VIEW_J, VIEW_P
from atoll.sizes import Atom, Poly, Sym, poly

if TYPE_CHECKING:
    from atoll.schedule.api import Schedule

FORMAT = "atoll certificate 3"


@all_plain
class Certificate:
    """A certificate as data: `.save(path)`, `.data`, `.check()`."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def save(self, path: str | Path) -> Path:
        """Write it; a name that ends in .gz is compressed."""
        target = Path(path)
        text = json.dumps(self.data, separators=(",", ":"))
        if target.suffix == ".gz":
            target.write_bytes(gzip.compress(text.encode()))
        else:
            target.write_text(text)
        return target

    def check(self) -> str:
        """What the independent checker says; an error when it does not accept."""
        try:
            data = json.loads(json.dumps(self.data))
        except (TypeError, ValueError, RecursionError):
            fail("E0509", problem="it is not the data of a certificate")
        try:
            return prove(data)
        except Rejected as problem:
            fail("E0509", problem=str(problem))

    def __repr__(self) -> str:
        d = self.data
        if "rewrites" in d:
            proved = sum(r["status"] == "proved" for r in d["rewrites"])
            return f"<certificate of {d['program']}: {proved} of {len(d['rewrites'])} rewrites proved, {len(json.dumps(d)) // 1000} kB>"
        return f"<certificate of {d['program']}: {len(d['steps'])} rules, {len(d['H'])} proofs, {len(json.dumps(d)) // 1000} kB>"


def make_certificate(s: Schedule, trust: bool = False) -> Certificate:
    lowered = s.lowered
    found = trusted(lowered.work.theorem) + lowered.report.trusted
    if found and not trust:
        fail("E0510", problem=f"{len(found)} conditions were settled by {found[0].by}")
    try:
        return Certificate(_Writer(s).data())
    except Unprovable as problem:
        fail("E0510", problem=str(problem))


def subject(s: Schedule) -> dict[str, Any]:
    """What a certificate of any schedule of this function is about, with the tables it needs."""
    writer = _Writer(s)
    return {**writer.subject(writer.theorem.source), **writer.e.tables()}


class _Writer:
    def __init__(self, s: Schedule) -> None:
        self.s, self.lowered = s, s.lowered
        self.report: Report = s.lowered.report
        self.theorem = s.lowered.work.theorem
        self.base = s.lowered.work.base
        sizes: dict[Atom, str] = {sym: sym.name for sym in s.source.program.sizes}
        for sym in s.source.params.values():
            sizes[sym] = sym.name
        self.e = Encoder(sizes)
        for sym, p in self.lowered.params.items():
            atom = p.single()
            assert atom is not None
            self.e.names[atom] = sym.name
        for x in self.theorem.inputs:
            self.e.names[x] = x.name
        self.e.names.update({sym: sym.name for sym in (*VIEW_J, *VIEW_P)})

    def data(self) -> dict[str, Any]:
        e, s = self.e, self.s
        source = self.theorem.source
        data: dict[str, Any] = {
            "format": FORMAT,
            **self.subject(source),
            "params": [[sym.name, atom.var.name] for sym, p in self.lowered.params.items() if isinstance(atom := p.single(), lp.VarAtom)],
            "filled": sorted([b.name, main] for b, main in self.lowered.filled),
            "steps": [self.step(record) for record in self.theorem.steps],
            "final": e.term(self.theorem.term),
            "base": None if self.base is None else self.base_data(),
            "licences": sorted(self.theorem.licences),
            "loops": self.loops(),
            "covers": [[self.position(a), self.tree(tree)] for a, tree in self.report.covers],
            "results": [[b.name, [e.name(u) for u in syms], self.tree(tree), main] for b, syms, tree, main in self.report.results],
            "injective": [[k, self.lines(lines)] for k, lines in self.report.injective.items()],
            "disjoint": [[a, b, self.lines(lines)] for (a, b), lines in self.report.disjoint.items()],
            "races": [
                [e.name(loop.sym), self.position(a), self.position(b), self.lines(lines)] for loop, a, b, lines in self.report.races
            ],
            "memory": self.memory(),
        }
        for obligation in (o for record in self.all_steps() for o in record.obligations):
            e.claim(obligation.facts, obligation.goal, obligation.why)
        for proved in self.report.proved:
            e.claim(proved.facts, proved.goal, proved.why)
        text = s.compile_text()
        data["c"] = {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        data.update(e.tables())
        return data

    def subject(self, source: Any) -> dict[str, Any]:
        """What the certificate is about: nothing here depends on the schedule."""
        e, s = self.e, self.s
        digest, _ = fingerprint(s.function.core)
        inputs = self.theorem.inputs
        return {
            "program": s.name,
            "digest": digest,
            "sizes": [sym.name for sym in s.source.program.sizes] + [sym.name for sym in s.source.params.values()],
            "arrays": [[e.name(x), x.dtype.name, e.many(shape), self.lowered.places[x].name] for x, shape in inputs.items()],
            "constants": [[e.name(x), hashlib.sha256(np.ascontiguousarray(x.value).tobytes()).hexdigest()] for x in inputs if x.value is not None],
            "forbidden": sorted(self.theorem.forbidden),
            "facts": e.many(s.source.facts),
            "source": e.term(source),
        }

    def all_steps(self) -> Sequence[StepRecord]:
        return self.theorem.steps if self.base is None else (*self.theorem.steps, *self.base.steps)

    def base_data(self) -> Any:
        """The program for other sizes: the steps up to the first assumption, and what came after them (sums bound to names)."""
        assert self.base is not None
        shared = next(k for k, record in enumerate(self.theorem.steps) if record.rule == "assume")
        return {"steps": shared, "then": [self.step(r) for r in self.base.steps[shared:]], "term": self.e.term(self.lowered.other)}

    def step(self, record: StepRecord) -> Any:
        args = {k: self.e.argument(v) for k, v in record.args.items()}
        new = None if record.new is None else self.e.term(record.new)
        return [list(record.path), record.rule, args, new, sorted(record.licences)]

    # -- loops

    def loops(self) -> Any:
        fn = self.lowered.function
        outputs = [[o.buffer.name, o.buffer.dtype.name, self.e.many(o.buffer.extents)] for o in fn.outputs]
        body = self.stmts(fn.body)
        pieces = [x for x in lp.walk(fn.body) if isinstance(x, lp.Chunks) and isinstance(x.body[0], lp.For)]
        work = [[self.e.name(x.body[0].sym), self.e.poly(x.work)] for x in pieces if isinstance(x.body[0], lp.For) and x.body[0].sym in self.e.names]
        return {"outputs": outputs, "body": body, "work": work}

    def stmts(self, stmts: lp.Stmts) -> list[Any]:
        return [self.stmt(x) for x in stmts if not isinstance(x, lp.Note)]

    def stmt(self, x: lp.Stmt) -> Any:
        e = self.e
        match x:
            case lp.For():
                return self.loop(x, x.low, x.high, False)
            case lp.Chunks(low, _, extent, _, [lp.For() as inner]):
                start = inner.low - poly(low)
                return self.loop(inner, start, start + extent, True)
            case lp.If(tests, then, orelse):
                return ["if", self.tests(tests), self.stmts(then), self.stmts(orelse)]
            case lp.Store(b, index, value):
                return ["store", b.name, e.many(index), self.expr(value)]
            case lp.Update(b, index, op, value):
                return ["update", b.name, e.many(index), op, self.expr(value)]
            case lp.Let(var, value):
                made = ["set", var.name, var.dtype.name, self.expr(value)]
                e.names[var.atom] = var.name  # elements may be looked up by it
                return made
            case lp.Declare(var, value):
                return ["declare", var.name, var.dtype.name, None if value is None else self.expr(value)]
            case lp.Assign(var, value):
                return ["assign", var.name, self.expr(value)]
            case lp.Alloc(b):
                return ["alloc", b.name, b.dtype.name, e.many(b.extents), b.local, b.rows]
            case lp.Free(b):
                return ["free", b.name]
            case lp.Section():
                digest, at, args = self.lowered.sections[id(x)]
                return ["section", digest, e.many(at), [a.name for a in args]]
        raise AssertionError(x)

    def loop(self, x: lp.For, low: Poly, high: Poly, pieces: bool) -> Any:
        flags = [x.parallel, x.vector, x.unroll, pieces]
        return ["for", self.e.name(x.sym), self.e.poly(low), self.e.poly(high), flags, self.stmts(x.body)]

    def tests(self, tests: tuple[lp.Test, ...]) -> list[Any]:
        return [[t.kind, None if t.poly is None else self.e.poly(t.poly), None if t.expr is None else self.expr(t.expr)] for t in tests]

    def expr(self, x: lp.Expr) -> Any:
        match x:
            case lp.Use(var):
                return ["use", var.name]
            case lp.Const(value, d):
                return ["const", number(value, d), d.name]
            case lp.Index(p):
                return ["index", self.e.poly(p)]
            case lp.Load(b, index):
                return ["load", b.name, self.e.many(index)]
            case lp.Call(op, args, d):
                return ["call", op, [self.expr(a) for a in args], d.name]
            case lp.Cast(arg, d):
                return ["cast", self.expr(arg), d.name]
            case lp.Choose(tests, then, orelse):
                return ["choose", self.tests(tests), self.expr(then), self.expr(orelse)]
            case lp.Truth(tests):
                return ["truth", self.tests(tests)]
        raise AssertionError(x)

    # -- what was found

    def position(self, a: Any) -> int:
        return next(k for k, other in enumerate(self.report.walk.accesses) if other is a)

    def tree(self, tree: Tree) -> Any:
        if isinstance(tree, Hit):
            store = next(k for k, a in enumerate(self.report.walk.accesses) if a.kind != "read" and a.stmt is tree.store)
            return [store, [[self.e.name(v), self.e.poly(p)] for v, p in tree.env.items()]]
        return [self.e.poly(tree.test), self.tree(tree.then), self.tree(tree.orelse)]

    def lines(self, lines: list[Line] | None) -> Any:
        if lines is None:
            return None
        found = []
        for x in lines:
            copies = []
            for v, p in x.copies.items():
                atom = p.single()
                assert isinstance(atom, Sym)
                copies.append([self.e.name(v), self.e.name(atom)])
            weights = [[self.e.poly(w), k] for w, k in x.combination]
            found.append([None if x.loop is None else self.e.name(x.loop), copies, x.further, weights, x.sign])
        return found

    def memory(self) -> list[Any]:
        """Bytes of every array the loops allocate; opaque parts are not looked into."""
        return [[b.name, self.e.poly(size(b)), "stack" if b.local else "heap"] for b in allocated(self.lowered.function.body)]


def allocated(stmts: Sequence[lp.Stmt]) -> Iterator[lp.Buffer]:
    for x in stmts:
        if isinstance(x, lp.Alloc):
            yield x.buffer
        elif not isinstance(x, lp.Section):
            for inner in lp.bodies(x):
                yield from allocated(inner)


def size(b: lp.Buffer) -> Poly:
    """Bytes."""
    total = poly(b.dtype.size)
    for n in b.extents if b.rows is None else (poly(b.rows), *b.extents[1:]):
        total = total * n
    return total
