"""Inline: calls of small functions and of wrappers are replaced by copies of their bodies.

Candidates are taken as they are before the pass: wrappers that do not mention themselves, and functions of at most `limit` binds and
terms that mention no function of their bundle. Copies are not looked at again in the same pass, so it ends and the bounds of
docs/sources.md, CertiCoq hold. A let-bound call of a body that ends in `ret` is spliced in; one that ends in a tail call becomes a let-bound
call; one that ends in `case` gets **one join point** for what follows, which is never copied.

A join point is inlined at a jump that passes it a constructor it looks at right away, when it is small: then the `case` is decided.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.names import Resolved, copy, mentions, rename
from atoll.functions.walk import in_branches


@dataclass(slots=True)
class Inlined:
    """The program, and how many calls were inlined at most in one function (G) and in the main block (L)."""

    program: ir.Program
    most: int
    main: int


def inline(program: ir.Program, limit: int = 8, only_marked: bool = False) -> ir.Program:
    """The program with calls of small functions and wrappers inlined."""
    return inline_counted(program, limit, only_marked).program


def inline_counted(program: ir.Program, limit: int = 8, only_marked: bool = False) -> Inlined:
    step = _Inline(program, limit, only_marked)
    count = _Count()
    block = run(step.block(program.block, count))
    return Inlined(program.with_block(rename(block, step.same)), step.most, count.calls)


@dataclass(slots=True)
class _Count:
    calls: int = 0


class _Inline:
    def __init__(self, program: ir.Program, limit: int, only_marked: bool) -> None:
        self.same = Resolved()
        self.most = 0
        self.limit = limit
        self.candidates: dict[ir.Var, ir.Fun] = {}
        self.deciding: dict[ir.Var, ir.Join] = {}
        self.made: set[ir.Var] = set()
        for each in ir.blocks(program.block):
            for bind in each.binds:
                if isinstance(bind, ir.Funs):
                    names = [f.name for f in bind.bundle]
                    for f in bind.bundle:
                        small = not only_marked and _at_most(f.body, limit)
                        if (f.marked and not mentions(f.body, (f.name,))) or (small and not mentions(f.body, names)):
                            self.candidates[f.name] = f
                elif isinstance(bind, ir.Make):
                    self.made.add(bind.result)
                elif isinstance(bind, ir.Join) and not only_marked and _decides(bind, limit):
                    self.deciding[bind.name] = bind

    def block(self, block: ir.Block, count: _Count) -> Deep[ir.Block]:
        """Iterates over the binds; a join for what follows starts a new block, nested in the order it is met."""
        out: list[ir.Bind] = []
        around: list[tuple[list[ir.Bind], ir.Join]] = []  # binds before a call whose body ends in a case, and the copied end
        ends: list[ir.Term] = []
        for bind in block.binds:
            match bind:
                case ir.Funs(bundle):
                    done = []
                    for f in bundle:
                        inner = _Count()
                        done.append(ir.with_body(f, (yield self.block(f.body, inner))))
                        self.most = max(self.most, inner.calls)
                    out.append(ir.Funs(tuple(done)))
                case ir.Join(name, params, body):
                    out.append(ir.Join(name, params, (yield self.block(body, count))))
                case ir.Call(results, fn, args) if (callee := self.candidate(fn, args)) is not None:
                    count.calls += 1
                    body = copy(callee.body, dict(zip(callee.params, args, strict=True)))
                    if isinstance(body.term, ir.Ret):
                        out.extend(body.binds)
                        self.same.update(zip(results, body.term.values, strict=True))
                    elif isinstance(body.term, ir.Tail):
                        out.extend(body.binds)
                        out.append(ir.Call(results, body.term.fn, body.term.args))
                    else:
                        name = ir.Var("next", ir.CODE)
                        body = run(_returns_to(body, name, results))
                        hole = ir.Join(name, results, ir.Block((), ir.Ret(())))
                        around.append(([*out, hole, *body.binds], hole))
                        ends.append(body.term)
                        out = []
                case _:
                    out.append(bind)
        term = block.term
        match term:
            case ir.Tail(fn, args) if (callee := self.candidate(fn, args)) is not None:
                count.calls += 1
                body = copy(callee.body, dict(zip(callee.params, args, strict=True)))
                out.extend(body.binds)
                term = body.term
            case ir.Jump(name, args) if name in self.deciding and args[0] in self.made:
                count.calls += 1
                body = copy(self.deciding[name].body, dict(zip(self.deciding[name].params, args, strict=True)))
                out.extend(body.binds)
                term = body.term
            case ir.Case():
                term = yield in_branches(term, lambda inner: self.block(inner, count))
        result = ir.Block(tuple(out), term)
        for (binds, hole), end in zip(reversed(around), reversed(ends), strict=True):
            filled = [ir.Join(b.name, b.params, result) if b is hole else b for b in binds]
            result = ir.Block(tuple(filled), end)
        return result

    def candidate(self, fn: ir.Var, args: ir.Vars) -> ir.Fun | None:
        f = self.candidates.get(fn)
        return f if f is not None and len(f.params) == len(args) else None


def _at_most(block: ir.Block, limit: int) -> bool:
    total = 0
    for each in ir.blocks(block):
        total += len(each.binds) + 1
        if total > limit:
            return False
    return True


def _decides(join: ir.Join, limit: int) -> bool:
    """A join that looks at its first parameter at once, and is small."""
    term = join.body.term
    if not (join.params and isinstance(term, ir.Case) and term.value is join.params[0] and _at_most(join.body, 2 * limit)):
        return False
    return not any(isinstance(bind, ir.Funs) for each in ir.blocks(join.body) for bind in each.binds)


def _returns_to(block: ir.Block, join: ir.Var, results: ir.Vars) -> Deep[ir.Block]:
    """The block with its returns turned into jumps to the join."""
    out: list[ir.Bind] = []
    for bind in block.binds:
        if isinstance(bind, ir.Join):
            bind = ir.Join(bind.name, bind.params, (yield _returns_to(bind.body, join, results)))
        out.append(bind)
    term = block.term
    match term:
        case ir.Ret(values):
            term = ir.Jump(join, values)
        case ir.Tail(fn, args):
            given = tuple(x.again() for x in results)
            out.append(ir.Call(given, fn, args))
            term = ir.Jump(join, given)
        case ir.Case(value, branches):
            done = []
            for con, inner in branches:
                done.append((con, (yield _returns_to(inner, join, results))))
            term = ir.Case(value, tuple(done))
    return ir.Block(tuple(out), term)
