"""Core to AiNF: evaluate the core in the semantic domain, binding every scalar operation to a line.

Products, functions, arrays, conditionals on constants disappear here; so do calls (inlined) and views (index maps). What cannot be
expressed elementwise, a loop, a scan, a histogram, a sort, becomes one line over the leaves of its values: a value of any type is a
nest of tuples over arrays of scalars, and each leaf is treated alike. The parts are in translate/, one file per family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from atoll.ainf import ir, scalars
from atoll.ainf.translate.context import Env
from atoll.ainf.translate.derivatives import Derivatives
from atoll.ainf.values import Scalar, Value
from atoll.core import ir as core
from atoll.core.needs import words
from atoll.errors import Span, fail
from atoll.sizes import Atom, Sym, poly
from atoll.types.types import Index, Type, flatten, shape_of
from atoll.types.types import Scalar as ScalarType
from atoll.uncollected import uncollected

_MOST_CALLS = 20_000  # each of twenty functions that call the one before twice makes a million calls


@uncollected
def translate(fn: core.Function, share: bool = True, normalise: bool = True, plan: Mapping[str, str] | None = None) -> ir.Program:
    """The normal form of a function, calls inlined. `plan` says what becomes of values by their names (plan/override.py).

    Two switches to see what the translation does: without `share` equal lines stay apart, without `normalise` nothing is computed or
    simplified and every element of an array is read in a line of its own."""
    translator = Translator(fn)
    translator.b.share, translator.b.evaluate = share, normalise
    translator.plan = plan or {}
    return translator.program()


class Translator(Derivatives):
    def program(self) -> ir.Program:
        fn, b = self.fn, self.b
        env = Env()
        b.sizes |= set(fn.sizes)
        for sym in fn.sizes:
            env[sym] = Scalar(ir.IndexValue(poly(sym)))
        inputs: list[ir.Line] = []
        for k, (sym, t) in enumerate(fn.params):
            env[sym] = self.input(k, sym, t, env, inputs)
        self.requires(fn.requires, env, entry=True)
        assert fn.body is not None
        value = self.eval(fn.body, env)
        results = [self.result_abs(value, path) for path, _ in flatten(fn.result)]
        known = tuple(self.poly(r.poly, env) for r in fn.requires)
        given: set[Atom] = {*fn.sizes, *(sym for sym, _ in fn.params)}
        leaves = enumerate(flatten(fn.result))
        unknown = frozenset(k for k, (_, t) in leaves if any(not size.leaves() <= given for size in shape_of(t)[0]))
        return ir.Program(fn.name, fn.sizes, inputs, b.root, results, known, fn.reassociate, b.index_facts, unknown, self.bound_names, fn.span, _returned(fn.body), fn.portable)

    def input(self, k: int, sym: Sym, t: Type, env: Env, inputs: list[ir.Line]) -> Value:
        """A parameter: one line per leaf, its axes the leaf's sizes."""
        lines = []
        for leaf, (_, leaf_type) in enumerate(flatten(t)):
            sizes, elem = shape_of(leaf_type)
            bound = self.poly(elem.size, env) if isinstance(elem, Index) else None
            axes = tuple(self.poly(s, env) for s in sizes)
            if not isinstance(elem, (ScalarType, Index)):
                fail("E1124", name=self.where, what=f"{self.where} works on {t!r}")
            line, _ = self.b.emit(ir.Input(k, leaf, sym.name), (ir.Result(elem.dtype, axes, bound),), self.fn.span, hint=f"{sym.name}_")
            lines.append(line)
            inputs.append(line)
        return self.from_lines(t, lines, env)

    def eval(self, e: core.Expr, env: Env) -> Value:
        if e.span.line:
            self.b.near = e.span
        how = _EVAL.get(type(e))
        if how is None:
            fail("E1124", e.span, name=self.where, what=words(e, self.where), where=self.where)
        return how(self, e, env)

    def call(self, e: core.Call, env: Env) -> Value:
        """Inlined."""
        fn = e.fn
        if fn.recursive or fn in self.calls:
            fail("E0801", e.span, name=fn.name, where=self.where)
        self.called += 1
        if self.called > _MOST_CALLS:
            fail("E0127", e.span, name=fn.name, limit=f"{_MOST_CALLS:,} times", where=self.where, help="write what is repeated as a loop, or as a recursive function")
        inner = Env()
        for sym, p in zip(fn.sizes, e.sizes, strict=True):
            inner[sym] = Scalar(scalars.from_poly(self.poly(p, env)))
        for (sym, _), arg in zip(fn.params, e.args, strict=True):
            inner[sym] = self.eval(arg, env)
        saved, told = self.where, self.told
        if told is None and fn.span.in_library() and not e.span.in_library():
            self.told = (e.span, self.where)
        self.where = fn.name
        self.calls.append(fn)
        assert fn.body is not None
        if self.deriving and (fn.vjp is not None or fn.jvp is not None):
            value = self.customised(fn, inner, e.span)
        else:
            with self.b.calling(e.span):
                value = self.eval(fn.body, inner)
        self.calls.pop()
        self.where, self.told = saved, told
        return value


def _returned(body: core.Expr) -> Span:
    """Where the result of a body is written."""
    while isinstance(body, core.Block):
        body = body.result
    return body.span


_EVAL: dict[type, Callable[[Translator, Any, Env], Value]] = {
    core.Var: Translator.var,
    core.Lit: Translator.lit,
    core.SizeOf: Translator.size_of,
    core.ConstArray: Translator.const_array,
    core.Prim: Translator.prim,
    core.Cast: Translator.cast,
    core.If: Translator.if_,
    core.Block: Translator.block,
    core.MakeTuple: Translator.make_tuple,
    core.Proj: Translator.proj,
    core.MakeArray: Translator.make_array,
    core.Build: Translator.build,
    core.Map: Translator.map,
    core.At: Translator.at,
    core.Slice: Translator.slice,
    core.Update: Translator.update,
    core.Reduce: Translator.reduce,
    core.Scan: Translator.scan,
    core.ArgReduce: Translator.arg_reduce,
    core.Hist: Translator.hist,
    core.Scatter: Translator.scatter,
    core.Argsort: Translator.argsort,
    core.Filter: Translator.filter,
    core.For: Translator.for_,
    core.While: Translator.while_,
    core.View: Translator.view,
    core.Zip: Translator.zip,
    core.Unzip: Translator.unzip,
    core.Call: Translator.call,
    core.Copy: Translator.copy,
    core.Stop: Translator.stop,
    core.Jvp: Translator.jvp,
    core.Vjp: Translator.vjp,
}
