"""Well-formedness of core programs, checked after elaboration and after every pass on them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, MutableMapping

from atoll.core import ir
from atoll.core.prims import PRIMS
from atoll.core.rewrite import called
from atoll.core.slices import slice_type
from atoll.sizes import Poly, Sym
from atoll.types.types import Array, Fn, Index, Record, Scalar, Tuple, Type, Union, map_sizes, sizes_in


class Malformed(AssertionError):
    """A bug in Atoll: a pass made a core program that is not one."""


def check(fn: ir.Function, known: Iterable[int] = ()) -> None:
    """Raise Malformed unless the function and everything it calls is well formed; what is known was looked at before."""
    for f in called(fn, known):
        if f.body is None:
            raise Malformed(f"{f.name} has no body")
        scope = {*f.sizes, *(sym for sym, _ in f.params)}
        _Checker(f).expr(f.body, Names(scope), {sym: t for sym, t in f.params})


def plain(t: Type) -> Type:
    """A type without sizes, an index as the integer it is: what two parts of a program must agree on structurally."""
    if isinstance(t, Index):
        return Scalar(t.dtype)
    if isinstance(t, Array):
        return Array(plain(t.elem), Poly({}))
    if isinstance(t, Tuple):
        return Tuple(tuple(map(plain, t.items)))
    if isinstance(t, Record):
        return Record(t.decl, tuple(map(plain, t.items)))
    if isinstance(t, Fn):
        return Fn(tuple(map(plain, t.params)), plain(t.result))
    if isinstance(t, Union):
        return map_sizes(Union(t.decl, tuple(map(plain, t.types or ())), t.sizes), lambda p: Poly({}))
    return t


class Names:
    """The names in scope, in layers: entering a function or a block copies nothing."""

    __slots__ = ("own", "outer")

    def __init__(self, own: set[Sym], outer: Names | None = None) -> None:
        self.own, self.outer = own, outer

    def __contains__(self, sym: object) -> bool:
        layer: Names | None = self
        while layer is not None:
            if sym in layer.own:
                return True
            layer = layer.outer
        return False

    def __or__(self, more: set[Sym]) -> Names:
        return Names(more, self) if more else self


Types = MutableMapping[Sym, Type]


def layer(more: dict[Sym, Type], types: Types) -> Types:
    """Types of names in an inner scope. Few layers: a program may be nested thousands of times."""
    around: list[MutableMapping[Sym, Type]] = list(types.maps) if isinstance(types, ChainMap) else [types]
    if len(around) >= 16:
        flat: dict[Sym, Type] = {}
        for one in reversed(around):
            flat.update(one)
        around = [flat]
    return ChainMap(more, *around)


class _Checker:
    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn

    def need(self, ok: bool, node: object, why: str) -> None:
        if not ok:
            raise Malformed(f"in {self.fn.name}: {why}: {type(node).__name__}")

    def poly(self, p: Poly, scope: Names, node: object) -> None:
        for leaf in p.leaves():
            if leaf not in scope:
                self.need(False, node, f"the size {p} mentions {leaf}, which is not in scope")

    def same(self, a: Type, b: Type, node: object, why: str) -> None:
        if a is not b and plain(a) != plain(b):
            self.need(False, node, f"{why}: {a!r} and {b!r}")

    def expr(self, e: ir.Expr, scope: Names, types: Types) -> Type:
        if not isinstance(e, ir.Block):  # a block's own names may stand in its type; whoever uses the block checks
            for size in sizes_in(e.type):
                self.poly(size, scope | self.opened(e), e)
        getattr(self, f"_{type(e).__name__.lower()}")(e, scope, types)
        return e.type

    def opened(self, e: ir.Expr) -> set[Sym]:
        """Sizes a node's type may leave open: those an enclosing `open` binds."""
        return self._open if hasattr(self, "_open") else set()

    _open: set[Sym]

    def exprs(self, es: tuple[ir.Expr, ...], scope: Names, types: Types) -> None:
        for e in es:
            self.expr(e, scope, types)

    def _var(self, e: ir.Var, scope: Names, types: Types) -> None:
        self.need(e.sym in scope, e, f"{e.sym} is not in scope")
        if e.sym in types:
            self.same(types[e.sym], e.type, e, f"{e.sym} has two types")

    def _lit(self, e: ir.Lit, scope: Names, types: Types) -> None:
        self.need(isinstance(e.type, (Scalar, Index)) and not getattr(e.type, "weak", 0), e, "a literal is a strong scalar")

    def _sizeof(self, e: ir.SizeOf, scope: Names, types: Types) -> None:
        self.poly(e.poly, scope, e)

    def _constarray(self, e: ir.ConstArray, scope: Names, types: Types) -> None:
        pass

    def _prim(self, e: ir.Prim, scope: Names, types: Types) -> None:
        self.exprs(e.args, scope, types)
        info = PRIMS[e.op]
        self.need(len(e.args) == info.arity, e, f"{e.op} takes {info.arity} arguments")
        args = e.args[1:] if e.op == "select" else e.args
        dtypes = {a.type.dtype for a in args if isinstance(a.type, (Scalar, Index))}
        self.need(len(dtypes) == 1 and all(isinstance(a.type, (Scalar, Index)) for a in args), e, f"{e.op} on {dtypes}")
        (dtype,) = dtypes
        self.need(dtype.kind in info.takes, e, f"{e.op} does not take {dtype}")
        self.same(e.type, Scalar(info.result(dtype)), e, f"the result of {e.op}")

    def _cast(self, e: ir.Cast, scope: Names, types: Types) -> None:
        self.expr(e.value, scope, types)
        self.need(isinstance(e.type, Scalar) and isinstance(e.value.type, (Scalar, Index)), e, "cast of scalars")

    def _if(self, e: ir.If, scope: Names, types: Types) -> None:
        self.exprs((e.cond, e.then, e.orelse), scope, types)
        self.same(e.then.type, e.type, e, "a branch")
        self.same(e.orelse.type, e.type, e, "a branch")

    def _block(self, e: ir.Block, scope: Names, types: Types) -> None:
        types = layer({}, types)
        scope = Names(set(), scope)
        for stmt in e.stmts:
            match stmt:
                case ir.Bind(sym, value):
                    self.expr(value, scope, types)
                    types[sym] = value.type
                    scope.own.add(sym)
                case ir.Open(sizes, sym, value):
                    outer: set[Sym] = getattr(self, "_open", set())
                    self._open = outer | set(sizes)
                    self.expr(value, scope, types)
                    self._open = outer
                    types[sym] = value.type
                    scope.own.update((sym, *sizes))
                case ir.Assert(cond, _, _, parts):
                    self.expr(cond, scope, types)
                    self.exprs(tuple(p[0] for p in parts if not isinstance(p, str)), scope, types)
                case ir.Require(p):
                    self.poly(p, scope, stmt)
                case ir.Print(parts):
                    self.exprs(tuple(p[0] for p in parts if not isinstance(p, str)), scope, types)
                case ir.Fix(defs):
                    scope.own.update(sym for sym, _ in defs)
                    types.update((sym, made.type) for sym, made in defs)
                    for _, made in defs:
                        self.expr(made, scope, types)
        self.expr(e.result, scope, types)
        self.same(e.result.type, e.type, e, "a block and its result")

    def _maketuple(self, e: ir.MakeTuple, scope: Names, types: Types) -> None:
        self.exprs(e.items, scope, types)
        assert isinstance(e.type, (Tuple, Record))
        for item, t in zip(e.items, e.type.items, strict=True):
            self.same(item.type, t, e, "an item")

    def _proj(self, e: ir.Proj, scope: Names, types: Types) -> None:
        t = self.expr(e.value, scope, types)
        self.need(isinstance(t, (Tuple, Record)), e, "projection of a tuple")
        assert isinstance(t, (Tuple, Record))
        self.same(t.items[e.index], e.type, e, "an item")

    def elem(self, t: Type, node: object) -> Type:
        self.need(isinstance(t, Array), node, "an array is needed")
        assert isinstance(t, Array)
        return t.elem

    def _makearray(self, e: ir.MakeArray, scope: Names, types: Types) -> None:
        self.exprs(e.items, scope, types)
        for item in e.items:
            self.same(item.type, self.elem(e.type, e), e, "an item")

    def _build(self, e: ir.Build, scope: Names, types: Types) -> None:
        self.poly(e.size, scope, e)
        self.expr(e.body, scope | {e.sym}, types)
        self.same(self.elem(e.type, e), e.body.type, e, "the element")

    def _map(self, e: ir.Map, scope: Names, types: Types) -> None:
        self.exprs(e.arrays, scope, types)
        inner = {sym: self.elem(a.type, e) for sym, a in zip(e.params, e.arrays, strict=True)}
        self.expr(e.body, scope | set(e.params), layer(inner, types))
        self.same(self.elem(e.type, e), e.body.type, e, "the element")

    def _at(self, e: ir.At, scope: Names, types: Types) -> None:
        self.exprs((e.array, e.index), scope, types)
        self.same(self.elem(e.array.type, e), e.type, e, "the element")
        self.same(e.index.type, Scalar(Index(Poly({})).dtype), e, "the index")

    def items(self, items: tuple[ir.Item, ...], t: Type, scope: Names, types: Types, node: object) -> None:
        for item in items:
            t = self.elem(t, node)
            if isinstance(item, ir.Range):
                for p in (item.low, item.size):
                    self.poly(p, scope, node)
            else:
                self.expr(item, scope, types)  # type: ignore[arg-type]

    def _slice(self, e: ir.Slice, scope: Names, types: Types) -> None:
        self.items(e.items, self.expr(e.array, scope, types), scope, types, e)

    def _update(self, e: ir.Update, scope: Names, types: Types) -> None:
        self.exprs((e.array, e.value), scope, types)
        self.items(e.items, e.array.type, scope, types, e)
        self.same(e.array.type, e.type, e, "the array")

        self.same(e.value.type, slice_type(e.array.type, list(e.items)), e, "the assigned value")

    def lam(self, lam: ir.Lam, scope: Names, types: Types, node: object) -> None:
        self.expr(lam.body, scope | set(lam.params), layer(dict(zip(lam.params, lam.types, strict=True)), types))
        self.same(lam.body.type, lam.types[0], node, "an operator")

    def _reduce(self, e: ir.Reduce, scope: Names, types: Types) -> None:
        self.exprs((e.neutral, e.array), scope, types)
        self.lam(e.op, scope, types, e)
        self.same(self.elem(e.array.type, e), e.type, e, "the elements of a reduction")
        self.same(e.neutral.type, e.type, e, "the neutral element")

    def _scan(self, e: ir.Scan, scope: Names, types: Types) -> None:
        self.exprs((e.neutral, e.array), scope, types)
        self.lam(e.op, scope, types, e)
        self.same(e.array.type, e.type, e, "a scan")

    def _argreduce(self, e: ir.ArgReduce, scope: Names, types: Types) -> None:
        self.expr(e.array, scope, types)

    def _hist(self, e: ir.Hist, scope: Names, types: Types) -> None:
        self.exprs((e.neutral, e.indices, e.values), scope, types)
        self.poly(e.size, scope, e)
        self.lam(e.op, scope, types, e)
        self.same(self.elem(e.values.type, e), self.elem(e.type, e), e, "the values of a histogram")

    def _scatter(self, e: ir.Scatter, scope: Names, types: Types) -> None:
        self.exprs((e.array, e.indices, e.values), scope, types)
        if e.op is not None:
            self.lam(e.op, scope, types, e)
        self.same(self.elem(e.values.type, e), self.elem(e.type, e), e, "the values of a scatter")

    def _argsort(self, e: ir.Argsort, scope: Names, types: Types) -> None:
        self.expr(e.keys, scope, types)

    def _filter(self, e: ir.Filter, scope: Names, types: Types) -> None:
        self.exprs((e.array, e.mask), scope, types)
        self.same(e.array.type, e.type, e, "a filter")

    def state(self, state: tuple[tuple[Sym, ir.Expr], ...], scope: Names, types: Types) -> Types:
        for _, first in state:
            self.expr(first, scope, types)
        return layer({sym: first.type for sym, first in state}, types)

    def _for(self, e: ir.For, scope: Names, types: Types) -> None:
        self.poly(e.size, scope, e)
        inner = self.state(e.state, scope, types)
        self.expr(e.body, scope | {e.sym} | {sym for sym, _ in e.state}, inner)
        self.same(e.body.type, Tuple(tuple(first.type for _, first in e.state)), e, "the next state")

    def _while(self, e: ir.While, scope: Names, types: Types) -> None:
        inner = self.state(e.state, scope, types)
        within = scope | {sym for sym, _ in e.state}
        self.expr(e.cond, within, inner)
        self.expr(e.body, within, inner)
        self.same(e.body.type, Tuple(tuple(first.type for _, first in e.state)), e, "the next state")

    def _view(self, e: ir.View, scope: Names, types: Types) -> None:
        self.exprs(e.args, scope, types)

    def _zip(self, e: ir.Zip, scope: Names, types: Types) -> None:
        self.exprs(e.items, scope, types)

    def _unzip(self, e: ir.Unzip, scope: Names, types: Types) -> None:
        self.expr(e.value, scope, types)

    def _call(self, e: ir.Call, scope: Names, types: Types) -> None:
        self.exprs(e.args, scope, types)
        self.need(len(e.sizes) == len(e.fn.sizes), e, "one size argument per size")
        for p in e.sizes:
            self.poly(p, scope, e)
        for (_, t), arg in zip(e.fn.params, e.args, strict=True):
            self.same(t, arg.type, e, "an argument")

    def _inject(self, e: ir.Inject, scope: Names, types: Types) -> None:
        self.exprs(e.items, scope, types)
        self.need(isinstance(e.type, Union), e, "a case of a union")
        assert isinstance(e.type, Union)
        for item, t in zip(e.items, e.type.decl.member(e.type, e.member).items, strict=True):
            self.same(item.type, t, e, "a field")

    def _match(self, e: ir.Match, scope: Names, types: Types) -> None:
        self.expr(e.value, scope, types)
        self.tree(e.tree, e, scope | {e.sym}, layer({e.sym: e.value.type}, types))
        for arm in e.arms:
            inner = dict(zip(arm.params, arm.types, strict=True))
            self.expr(arm.body, scope | set(arm.params), layer(inner, types))
            self.same(arm.body.type, e.type, e, "an arm")

    def tree(self, tree: ir.Tree, e: ir.Match, scope: Names, types: Types) -> None:
        match tree:
            case ir.Switch(sym, t, cases, default):
                self.need(sym in scope and isinstance(t, Union), e, f"{sym} is looked at")
                assert isinstance(t, Union)
                self.same(types[sym], t, e, "what is looked at")
                self.need(default is not None or len(cases) == len(t.decl.members), e, "every case is there")
                for case in cases:
                    inner = layer(dict(zip(case.fields, case.types, strict=True)), types)
                    self.tree(case.tree, e, scope | set(case.fields) | set(case.sizes), inner)
                if default is not None:
                    self.tree(default, e, scope, types)
            case ir.LetTree(sym, value, inner_tree):
                self.expr(value, scope, types)
                self.tree(inner_tree, e, scope | {sym}, layer({sym: value.type}, types))
            case ir.TestTree(cond, then, orelse):
                self.expr(cond, scope, types)
                self.tree(then, e, scope, types)
                self.tree(orelse, e, scope, types)
            case ir.Leaf(arm, args):
                self.exprs(args, scope, types)
                for arg, t in zip(args, e.arms[arm].types, strict=True):
                    self.same(arg.type, t, e, "an argument of an arm")

    def _closure(self, e: ir.Closure, scope: Names, types: Types) -> None:
        lam = e.lam
        self.need(isinstance(e.type, Fn), e, "the type of a function")
        assert isinstance(e.type, Fn)
        self.expr(lam.body, scope | set(lam.params), layer(dict(zip(lam.params, lam.types, strict=True)), types))
        self.same(lam.body.type, e.type.result, e, "the result of a function")
        for a, b in zip(lam.types, e.type.params, strict=True):
            self.same(a, b, e, "a parameter")

    def _apply(self, e: ir.Apply, scope: Names, types: Types) -> None:
        self.exprs((e.fn, *e.args), scope, types)
        self.need(isinstance(e.fn.type, Fn), e, "a function is applied")
        assert isinstance(e.fn.type, Fn)
        for a, t in zip(e.args, e.fn.type.params, strict=True):
            self.same(a.type, t, e, "an argument")
        self.same(e.type, e.fn.type.result, e, "the result")

    def _hide(self, e: ir.Hide, scope: Names, types: Types) -> None:
        self.same(self.expr(e.value, scope, types), e.type, e, "a hidden size")

    def _extern(self, e: ir.Extern, scope: Names, types: Types) -> None:
        self.exprs(e.args, scope, types)
        self.need(len(e.args) == len(self.fn.params) and len(e.sizes) == len(self.fn.sizes), e, "the parameters of a module's function")

    def _function(self, lam: ir.Lam, args: tuple[ir.Expr, ...], e: ir.Expr, scope: Names, types: Types) -> None:
        self.exprs(args, scope, types)
        for arg, t in zip(args, lam.types, strict=True):
            self.same(arg.type, t, e, "an argument")
        self.expr(lam.body, scope | set(lam.params), layer(dict(zip(lam.params, lam.types, strict=True)), types))

    def _jvp(self, e: ir.Jvp, scope: Names, types: Types) -> None:
        self._function(e.fn, e.args, e, scope, types)
        self.exprs(e.tangents, scope, types)
        for tangent, t in zip(e.tangents, e.fn.types, strict=True):
            self.same(tangent.type, t, e, "a tangent")
        t = e.fn.body.type
        self.same(e.type, Tuple((t, t)) if e.value else t, e, "a derivative")

    def _vjp(self, e: ir.Vjp, scope: Names, types: Types) -> None:
        self._function(e.fn, e.args, e, scope, types)
        self.same(self.expr(e.seed, scope, types), e.fn.body.type, e, "the seed")
        adjoints = Tuple(e.fn.types)
        self.same(e.type, Tuple((e.fn.body.type, adjoints)) if e.value else adjoints, e, "a derivative")

    def _stop(self, e: ir.Stop, scope: Names, types: Types) -> None:
        self.same(self.expr(e.value, scope, types), e.type, e, "a constant for derivatives")

    def _copy(self, e: ir.Copy, scope: Names, types: Types) -> None:
        self.expr(e.value, scope, types)
