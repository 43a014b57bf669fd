"""Putting in the counts: from closed λANF and what is borrowed to counted code (counted.py).

One walk over each function. A field taken from a variable is borrowed from it; it gets a count of its own only when the variable goes
before it does. A variable goes as soon as nothing needs it: after the bind that used it last, at the start of a branch that does
not need it, and when its constructor is known it is unpacked, which gives its cell for the next constructor of the same size in the
branch. Tokens do not cross calls or joins (held across a call they cost more than they save).

At a join the variables it needs are owned from its definition on: every way there brings the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from atoll.functions import ir
from atoll.functions.borrow import Owned, builds, infer
from atoll.functions.calls import Graph
from atoll.functions.closure_convert import CLOSURE
from atoll.functions.counted import (
    HOLE,
    CaseEnd,
    Code,
    CountedFun,
    CountedProgram,
    Drop,
    Dup,
    End,
    FreeToken,
    Instr,
    MakeIn,
    TailInto,
    Token,
    Unpack,
    counted,
    words,
)
from atoll.functions.deep import Deep, run
from atoll.functions.liveness import Liveness, Names
from atoll.functions.tail_modulo import find_holes


def count(functions: Mapping[ir.Var, ir.Fun], main: ir.Fun, graph: Graph, reuse: bool = True) -> CountedProgram:
    """Counted code of a closed program."""
    ends: dict[ir.Block, TailInto] = {}
    ready: dict[ir.Var, ir.Fun] = {}
    for f, fun in functions.items():
        ready[f], found = find_holes(fun, frozenset(graph.group_of(f)))
        ends.update(found)
    owned = infer(ready, main, graph, reuse)
    made = {f: _Counter(fun, ready, owned, ends, reuse).function() for f, fun in ready.items()}
    return CountedProgram(made, _Counter(main, ready, owned, ends, reuse).function())


class _State:
    """What is owned here, and which variables are parts of which."""

    def __init__(self, owned: dict[ir.Var, None]) -> None:
        self.owned = owned
        self.parent: dict[ir.Var, ir.Var] = {}
        self.children: dict[ir.Var, dict[ir.Var, int]] = {}
        self.con: dict[ir.Var, ir.Constructor] = {}
        self.tokens: list[Token] = []

    def copy(self) -> _State:
        new = _State(dict(self.owned))
        new.parent = dict(self.parent)
        new.children = {x: dict(c) for x, c in self.children.items()}
        new.con = dict(self.con)
        new.tokens = list(self.tokens)
        return new

    def set_free(self, x: ir.Var) -> None:
        """x has a count of its own now."""
        up = self.parent.pop(x, None)
        if up is not None:
            del self.children[up][x]

    def root_is_owned(self, x: ir.Var) -> bool:
        while x in self.parent:
            x = self.parent[x]
        return x in self.owned


class _Counter:
    def __init__(
        self, fun: ir.Fun, functions: Mapping[ir.Var, ir.Fun], owned: Owned, ends: dict[ir.Block, TailInto], reuse: bool
    ) -> None:
        self.fun, self.functions, self.owned, self.ends, self.reuse = fun, functions, owned, ends, reuse
        self.live = Liveness(fun, ends)
        self.at_join: dict[ir.Var, tuple[dict[ir.Var, None], _State]] = {}
        self.constants: set[ir.Var] = set()
        self.units: set[ir.Var] = set()

    def function(self) -> CountedFun:
        mine = self.owned[self.fun.name]
        taken = tuple(k in mine for k in range(len(self.fun.params)))
        state = _State({p: None for p, own in zip(self.fun.params, taken, strict=True) if own and counted(p)})
        code = run(self.block(self.fun.body, state, True))
        return CountedFun(self.fun, taken, code)

    # -- blocks

    def block(self, block: ir.Block, state: _State, start: bool = False) -> Deep[Code]:
        out: list[Instr] = []
        if start:
            self.drop_dead(self.live.before(block), state, out, block, 0)
        joins: list[ir.Join] = []
        for position, bind in enumerate(block.binds):
            after = self.live.after(block, position)
            if isinstance(bind, ir.Join):
                joins.append(bind)
                self.reach_join(bind, state, out)
                continue
            self.bind(bind, after, state, out)
            self.drop_dead(after, state, out, block, position + 1)
        end = yield self.end(block, state, out)
        done = []
        for join in joins:
            here, around = self.at_join[join.name]
            inner = around.copy()
            inner.owned = {**here, **{p: None for p in join.params if counted(p)}}
            inner.tokens = []
            done.append((join.name, join.params, (yield self.block(join.body, inner, True))))
        return Code(tuple(out), end, tuple(done))

    def reach_join(self, join: ir.Join, state: _State, out: list[Instr]) -> None:
        needed = self.live.joins[join.name]
        for y in sorted(needed, key=lambda v: v.name):
            if counted(y) and y not in state.owned and y not in self.constants and state.root_is_owned(y):
                self.take_count(y, state, out)
        self.at_join[join.name] = ({y: None for y in state.owned if y in needed}, state.copy())

    def take_count(self, y: ir.Var, state: _State, out: list[Instr]) -> None:
        out.append(Dup(y))
        state.set_free(y)
        state.owned[y] = None

    def bind(self, bind: ir.Bind, after: Names, state: _State, out: list[Instr]) -> None:
        match bind:
            case ir.Literal():
                out.append(bind)
            case ir.Take(x, value, con, index):
                out.append(bind)
                if counted(x):
                    if value in self.constants:
                        self.constants.add(x)
                    else:
                        state.parent[x] = value
                        state.children.setdefault(value, {})[x] = index
                        state.con[value] = con
            case ir.Make(x, con, args):
                self.make(x, con, args, after, state, out)
            case ir.Op(results, op, args):
                self.consume([args[k] for k in sorted(op.takes)], after | {y for k, y in enumerate(args) if k not in op.takes}, state, out)
                out.append(bind)
                state.owned.update((x, None) for x in results if counted(x))
            case ir.Call(results, fn, args):
                self.free_tokens(state, out)
                self.arguments(fn, args, after, state, out)
                out.append(bind)
                state.owned.update((x, None) for x in results if counted(x))

    def make(self, x: ir.Var, con: ir.Constructor, args: ir.Vars, after: Names, state: _State, out: list[Instr]) -> None:
        if not con.fields or (con is CLOSURE and args[1] in self.units):
            self.constants.add(x)  # an immediate or a static cell: never counted
            if con is ir.UNIT:
                self.units.add(x)
            out.append(MakeIn(x, con, args))
            return
        self.consume([y for y in args if y is not HOLE], after, state, out)
        token = next((t for t in state.tokens if t.words == words(con)), None)
        if token is not None:
            state.tokens.remove(token)
        out.append(MakeIn(x, con, args, token))
        state.owned[x] = None
        state.con[x] = con

    # -- giving away

    def consume(self, args: list[ir.Var], needed: Names | set[ir.Var], state: _State, out: list[Instr]) -> None:
        """Give each argument away: its own count when this is its last use, a new one otherwise."""
        for k, y in enumerate(args):
            if not counted(y) or y in self.constants:
                continue
            if y in state.owned and y not in needed and y not in args[k + 1 :]:
                self.protect(y, frozenset(needed) | set(args[k + 1 :]), state, out)
                del state.owned[y]
            else:
                out.append(Dup(y))

    def arguments(self, fn: ir.Var, args: ir.Vars, after: Names, state: _State, out: list[Instr]) -> None:
        if fn not in self.functions:
            self.consume([y for y in args if y is not fn], after, state, out)
            return
        mine = self.owned[fn]
        lent = {y for k, y in enumerate(args) if k not in mine}
        self.consume([y for k, y in enumerate(args) if k in mine], after | lent, state, out)

    def protect(self, y: ir.Var, needed: Names, state: _State, out: list[Instr]) -> None:
        """Parts of y that are needed later get counts of their own before y goes."""
        for child in list(state.children.get(y, ())):
            if child in needed:
                self.take_count(child, state, out)
            else:
                self.protect(child, needed, state, out)

    # -- letting go

    def drop_dead(self, needed: Names, state: _State, out: list[Instr], block: ir.Block, position: int) -> None:
        for y in list(state.owned):
            if y in state.owned and y not in needed:
                self.release(y, needed, state, out, block, position)

    def release(self, y: ir.Var, needed: Names, state: _State, out: list[Instr], block: ir.Block, position: int) -> None:
        del state.owned[y]
        children = state.children.get(y, {})
        for child in list(children):
            if child not in needed:
                self.protect(child, needed, state, out)
        con = state.con.get(y)
        if con is None or not con.fields or y.rep != ir.DATA:
            self.protect(y, needed, state, out)
            if con is None or con.fields:
                out.append(Drop(y))
            return
        kept: dict[int, ir.Var] = {}
        for child, index in list(children.items()):
            if child in needed:
                if index in kept:  # taken twice: the second needs a count of its own in any case
                    self.take_count(child, state, out)
                else:
                    kept[index] = child
        token = Token(words(con)) if self.reuse and builds(block, position, words(con)) else None
        out.append(Unpack(y, con, tuple(kept.items()), token))
        for child in kept.values():
            state.set_free(child)
            state.owned[child] = None
        if token is not None:
            state.tokens.append(token)

    def free_tokens(self, state: _State, out: list[Instr]) -> None:
        out.extend(FreeToken(t) for t in state.tokens)
        state.tokens = []

    # -- ends

    def end(self, block: ir.Block, state: _State, out: list[Instr]) -> Deep[End]:
        term = block.term
        match term:
            case ir.Case(value, branches):
                done = []
                for con, inner in branches:
                    here = state.copy()
                    if not con.fields:
                        here.owned.pop(value, None)  # an immediate
                    else:
                        here.con[value] = con
                    done.append((con, (yield self.branch(inner, here))))
                return CaseEnd(value, tuple(done))
            case ir.Ret(values):
                self.consume(list(values), frozenset(), state, out)
                self.finish({}, state, out)
                return term
            case ir.Tail(fn, args):
                into = self.ends.get(block)
                if into is not None:
                    self.arguments(fn, args, frozenset((into.result,)), state, out)
                    state.owned.pop(into.result, None)
                else:
                    self.arguments(fn, args, frozenset(), state, out)
                if fn in self.functions:
                    lent = {y for k, y in enumerate(args) if k not in self.owned[fn] and counted(y)}
                    assert not any(y in state.owned or state.root_is_owned(y) for y in lent), "a lent argument would be dropped after a tail call"
                self.finish({}, state, out)
                return into if into is not None else term
            case ir.Jump(join, args):
                needed, _ = self.at_join[join]
                self.consume(list(args), frozenset(needed), state, out)
                self.finish(needed, state, out)
                return term

    def branch(self, block: ir.Block, state: _State) -> Deep[Code]:
        """A branch lets go at its start of what it does not need, tokens among it."""
        kept: list[Token] = []
        unused: list[Token] = []
        for token in state.tokens:
            (kept if builds(block, 0, token.words) else unused).append(token)
        state.tokens = kept
        code = yield self.block(block, state, True)
        return Code((*(FreeToken(t) for t in unused), *code.instrs), code.end, code.joins)

    def finish(self, keep: dict[ir.Var, None], state: _State, out: list[Instr]) -> None:
        for y in list(state.owned):
            if y not in keep:
                out.append(Drop(y))
        self.free_tokens(state, out)
