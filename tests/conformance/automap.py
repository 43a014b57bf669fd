"""Definitions without annotations, read on their own: what AUTOMAP makes of them (docs/sources.md, Schenck).

The environment is the table's: `x y t` numbers, `xs ys ts` vectors, `A B` matrices, `C3` an array of rank 3; `ident`, `pipe`, `mapf`
(map as an ordinary function), `indices` and `f` are local functions. Each reading is the elaborated text; its two sizes are the
formal one (every insertion) and the one that is minimised (induced reps are free).
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from atoll.elaborate.namespace import Namespace
from atoll.elaborate.ranks.analysis import Definition, read_local
from atoll.elaborate.ranks.entities import Env, Known, Named
from atoll.elaborate.ranks.kinds import Clash, numbers
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.readings import Elaborated, Marks, identifiers, marks
from atoll.elaborate.ranks.schemes import Scheme, show
from atoll.elaborate.ranks.solve import Solution
from atoll.elaborate.session import Session
from atoll.errors import Source
from atoll.surface import syntax as s
from atoll.surface.parse import Parser

RANKS = {"x": 0, "y": 0, "t": 0, "xs": 1, "ys": 1, "ts": 1, "A": 2, "B": 2, "C3": 3}
PRELUDE = """
def indices(a): return iota(len(a))
def ident(a): return a
def pipe(a, f): return f(a)
def mapf(f, a): return map(f, a)
def eq(a, b): return a == b
def f(v): return sqrt(v)
"""


@dataclass(frozen=True)
class Reading:
    """One least solution."""

    text: str
    type: str
    formal: int
    least: int
    induced: int


@lru_cache(maxsize=4000)
def read(program: str) -> tuple[Definition, s.Function]:
    """The last definition of a program, after those before it."""
    source = Source("<table>", PRELUDE + program)
    functions = [Parser(source).function(node) for node in ast.parse(source.text).body if isinstance(node, ast.FunctionDef)]
    env = Env({name: Known(numbers(rank)) for name, rank in RANKS.items()})
    for function in functions[:-1]:  # each definition is solved and generalised before the next one
        solved = read_local(Session(), Namespace(names={}), env, function)
        assert solved.outcome.unique
        closed = solved.outcome.the_solution().types().close(solved.type)
        env.names[function.name] = Named(function.name, Scheme(closed), tuple(p.name for p in function.params))
    return read_local(Session(), Namespace(names={}), env, functions[-1]), functions[-1]


def marks_of(definition: Definition, solution: Solution) -> dict[int, list]:  # type: ignore[type-arg]
    return marks([*definition.gen.settled, *((a, solution.insertion(a)) for a in solution.system.applications)])


def text_of(function: s.Function, inserted: Marks, by_name: bool = True) -> str:
    """The expression a definition returns, with these insertions explicit."""
    (stmt,) = function.body
    assert isinstance(stmt, s.Return) and stmt.value is not None
    printer = Elaborated(inserted, identifiers(stmt.value.span.text()))
    printer.by_name = by_name
    return printer.expr(stmt.value)


def readings(program: str) -> list[Reading] | str:
    """Every least elaboration of a definition, or "type error"."""
    try:
        definition, function = read(program)
    except (Clash, Infeasible):
        return "type error"
    found = []
    for solution in definition.outcome.solutions():
        kind = show(solution.types().close(definition.type)).removeprefix(" -> ")
        text = text_of(function, marks_of(definition, solution))
        found.append(Reading(text, kind, solution.size, solution.cost, solution.size - solution.cost))
    return found


def expression(text: str, program: str = "") -> list[Reading] | str:
    """Every least elaboration of an expression."""
    return readings(f"{program}\ndef row(): return {text}\n")


def canonical(text: str) -> str:
    """A text with lambdas that are applied at once reduced, and parameters renamed in order: to compare elaborations."""
    tree = ast.parse(text, mode="eval")
    _apart(tree, {}, itertools.count())
    return ast.unparse(_rename(_Beta().visit(tree), {}, 0))


def _apart(node: ast.AST, names: dict[str, str], fresh: Iterator[int]) -> None:
    """Give every lambda's parameters names of their own, so that reducing captures nothing."""
    if isinstance(node, ast.Lambda):
        names = {**names, **{arg.arg: f"own{next(fresh)}" for arg in node.args.args}}
        for arg in node.args.args:
            arg.arg = names[arg.arg]
    if isinstance(node, ast.Name) and node.id in names:
        node.id = names[node.id]
    for child in ast.iter_child_nodes(node):
        _apart(child, names, fresh)


def _rename(node: ast.AST, names: dict[str, str], depth: int) -> ast.AST:
    if isinstance(node, ast.Lambda):
        names = {**names, **{arg.arg: f"v{depth + k}" for k, arg in enumerate(node.args.args)}}
        depth += len(node.args.args)
        for arg in node.args.args:
            arg.arg = names[arg.arg]
    if isinstance(node, ast.Name) and node.id in names:
        node.id = names[node.id]
    for child in ast.iter_child_nodes(node):
        _rename(child, names, depth)
    return node


class _Beta(ast.NodeTransformer):
    """(lambda x: e)(a) as e with a for x, in a text whose lambdas have parameters of their own."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Lambda):
            params = [arg.arg for arg in node.func.args.args]
            return _Substitute(dict(zip(params, node.args, strict=True))).visit(copy.deepcopy(node.func.body))  # type: ignore[no-any-return]
        return node


class _Substitute(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.values.get(node.id, node))

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        own = {arg.arg for arg in node.args.args}
        node.body = _Substitute({k: v for k, v in self.values.items() if k not in own}).visit(node.body)
        return node
