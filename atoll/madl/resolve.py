"""After elaboration: every type and size is put in its final form, and what sizes must satisfy is checked or written down.

    free sizes     those in the types of arguments and results and in <<..>>; any other unknown is "unconstrained"
    requirements   every array has a size >= 0: proved where it depends on a loop index, else a condition on the operator's use
    indices        every index is proved to lie in its array
"""

from __future__ import annotations

import re
from dataclasses import replace

from atoll.errors import Span, fail
from atoll.madl import graph as g
from atoll.madl.elaborate import Bound, Elaborator
from atoll.madl.fixed import represents
from atoll.madl.helps import wider
from atoll.madl.known import Known
from atoll.madl.represented import Fixed
from atoll.madl.typing import BOOL, F64, INT, Generic, Unknown, array_sizes, leaves, prune, show_size_named, show_type, sizes_in
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import fits
from atoll.types.types import Index, Scalar, Type

_DEFAULTS = {"number": INT, "real": F64, "integer": INT, "float": F64, "bool": BOOL}


def settle(el: Elaborator) -> None:
    """Solve what is left and write the results into the graph."""
    el.type_scalars()
    el.typer.check_solved()
    _default_types(el)
    _literals(el)
    _final_forms(el)
    _name_sizes(el)
    _check_free(el)
    _dynamic(el)
    _requirements(el)
    _escapes(el)
    _bounds(el)


def _default_types(el: Elaborator) -> None:
    """Unknown numbers become int, unknown floats f64; anything else is a type variable."""
    letters = iter([*"abcdefgh", *(f"t{k}" for k in range(99))])
    taken = el.size_words | {x.name for w in el.graph.wires for x in leaves(w.type) if isinstance(x, Generic)}
    trees = [t for op in el.operations for t in _tree_types(op.tree)]
    for unknown in [*(x for w in el.graph.wires for x in leaves(w.type)), *(x for t in trees for x in leaves(t))]:
        t = prune(unknown)
        if isinstance(t, Unknown):
            name = next(n for n in letters if n not in taken) if t.family not in _DEFAULTS else ""
            t.bound = _DEFAULTS.get(t.family) or Generic(name, t.family)


def _literals(el: Elaborator) -> None:
    """Numbers fit the types they have taken."""
    for op in el.operations:
        for literal in _tree_literals(op.tree):
            t = prune(literal.type)
            if isinstance(literal, g.SizeValue):
                if isinstance(t, Fixed):
                    fail("E0915", op.span, op="a size as a number", shown=repr(t), help=f"write {t!r}(i32(..))", where=el.graph.name)
                continue
            if isinstance(t, Scalar) and not literal_fits(literal.value, t):
                fail("E0929", literal.span, value=literal.value, shown=show_type(t), help=wider(literal.value, t), where=el.graph.name)
    for wire, label in el.labels:
        t = prune(wire.type)
        if isinstance(t, Scalar) and not fits(label.value, t.dtype):
            fail("E0929", label.span, value=label.value, shown=show_type(t), where=el.graph.name)


def literal_fits(value: int | float | bool, t: Scalar) -> bool:
    return represents(value, t) if isinstance(t, Fixed) else fits(value, t.dtype)


def _tree_literals(tree: g.Tree) -> list[g.Literal | g.SizeValue]:
    if isinstance(tree, (g.Literal, g.SizeValue)):
        return [tree]
    return [x for a in tree.args for x in _tree_literals(a)] if isinstance(tree, g.Operate) else []


def _tree_types(tree: g.Tree) -> list[Type]:
    if isinstance(tree, (g.Literal, g.SizeValue)):
        return [tree.type]
    if isinstance(tree, g.Operate):
        return [tree.type, *(t for a in tree.args for t in _tree_types(a))]
    return []


def _final_forms(el: Elaborator) -> None:
    graph, typer = el.graph, el.typer
    size = typer.final_size
    env = {sym: size(Poly({(sym,): 1})) for sym in [*typer.solver.unknowns, *typer.abstract] if size(Poly({(sym,): 1})).single() is not sym}
    for wire in graph.wires:
        wire.type = typer.final(wire.type)
    renewed: dict[g.Relation, g.Relation] = {}
    for relation in graph.relations:
        renewed[relation] = replace(relation, parts=tuple((f.subst(env), w) for f, w in relation.parts))
    graph.relations = list(renewed.values())
    for wire, producer in graph.producer.items():
        if isinstance(producer, g.Relation):
            graph.producer[wire] = renewed[producer]
    for scope in graph.loops.values():
        scope.extent, scope.low = size(scope.extent), size(scope.low)
    for op in el.operations:
        op.tree = _final_tree(op.tree, el)
    for node in g.scope_nodes(graph.body):
        if isinstance(node, g.Call):
            node.sizes = {sym: size(p) for sym, p in node.sizes.items()}
            node.types = {generic: typer.final(t) for generic, t in node.types.items()}
    graph.size_params = [(name, size(p)) for name, p in graph.size_params]
    graph.requirements = [(size(p), what, span) for p, what, span in graph.requirements]
    el.bounds = [replace(b, index=size(b.index), extent=size(b.extent)) for b in el.bounds]
    el.built = [
        replace(b, growth=size(b.growth), fixed=size(b.fixed), relations=tuple(renewed[r] for r in b.relations)) for b in el.built
    ]


def _final_tree(tree: g.Tree, el: Elaborator) -> g.Tree:
    match tree:
        case g.Literal():
            return replace(tree, type=el.typer.final(tree.type))
        case g.SizeValue():
            return replace(tree, size=el.typer.final_size(tree.size), type=el.typer.final(tree.type))
        case g.Operate():
            return replace(
                tree,
                args=tuple(_final_tree(a, el) for a in tree.args),
                type=el.typer.final(tree.type),
                sizes=tuple(el.typer.final_size(p) for p in tree.sizes),
            )
    return tree


def _name_sizes(el: Elaborator) -> None:
    """The free sizes in order of appearance, under the user's names where there are any."""
    graph = el.graph
    found: dict[Sym, None] = {}
    generics: dict[Generic, None] = {}
    given = [p for _, p in graph.size_params]
    for p in [*given, *(p for w in [*graph.arguments, *graph.results] for p in sizes_in(w.type))]:
        for leaf in p.leaves():
            if isinstance(leaf, Sym) and leaf in el.typer.solver.unknowns:
                found[leaf] = None
    for wire in [*graph.arguments, *graph.results]:
        generics.update(dict.fromkeys(x for x in leaves(wire.type) if isinstance(x, Generic)))
    graph.sizes, graph.generics = list(found), list(generics)
    written = {name for name in el.size_words}
    used: set[str] = set()
    taken = {w.name for w in graph.wires if w.name} | {s.index_name for s in graph.loops.values()}
    letters = [c for c in [*"nmkpqrstuvwxyzabcdefgh", *(f"n{k}" for k in range(1, 99))] if c not in written and c not in taken]
    for sym in graph.sizes:
        name = sym.name if sym.name in written and sym.name not in used else next(c for c in letters if c not in used)
        used.add(name)
        graph.size_names[sym] = name
    el.typer.names.update(graph.size_names)


def _check_free(el: Elaborator) -> None:
    """Sizes that nothing outside determines would be ours to choose."""
    graph = el.graph
    free = set(graph.sizes)

    def check(p: Poly, what: str, span: Span) -> None:
        for leaf in p.leaves():
            if leaf in el.typer.solver.unknowns and leaf not in free:
                notes = [f"{what} {show_size_named(p, {**graph.size_names, leaf: '?'})}"]
                fail("E0912", span, notes=notes, where=graph.name)

    for wire in graph.wires:
        for p in sizes_in(wire.type):
            check(p, f"{wire.shown} has size", wire.span)
    for scope in graph.loops.values():
        check(scope.extent, "this loop has size", scope.span)
        check(scope.low, "the first index of this loop is", scope.span)
    for bound in el.bounds:
        check(bound.index, f"the index of {bound.wire.shown} is", bound.span)


def _dynamic(el: Elaborator) -> None:
    for wire, sym in el.dynamic.items():
        if isinstance(wire.type, Index):
            el.graph.dynamic[sym] = (wire, wire.type.size)
            continue
        bound = next((b for b in el.bounds if sym in b.index.leaves()), None)
        loop = next((x for x in el.graph.loops.values() if sym in {*x.extent.leaves(), *x.low.leaves()}), None)
        if bound is None and loop is not None:
            help_ = f"a number of rounds that is computed has a bound: clamp<<n>>({wire.shown}), or an argument of type idx<<n>>"
            fail("E0904", loop.span, what="size", name=wire.shown, notes=[f"{wire.shown} is a number of type {show_type(wire.type)}"], help=help_, where=el.graph.name)
        span = bound.span if bound else wire.span
        what = bound.wire.shown if bound else "the array"
        high = show_size_named(bound.extent - 1, el.graph.size_names) if bound else "n-1"
        note = f"{wire.shown} is a number of type {show_type(wire.type)}"
        other = f"write clamp<<{show_size_named(bound.extent, el.graph.size_names)}>>({wire.shown}), or wrap; or give it the type idx<<..>>" if bound and show_type(wire.type) != "f64" else None
        fail("E0918", span, index=wire.shown, what=what, high=high, notes=[note], help=other, where=el.graph.name)


def _requirements(el: Elaborator) -> None:
    graph = el.graph
    needed: dict[Poly, list[tuple[str, Span, g.Scope]]] = {}
    inner: list[tuple[Poly, g.Wire]] = []
    for wire in graph.wires:
        for p in array_sizes(wire.type):
            if _is_loopy(graph, p):
                inner.append((p, wire))
            else:
                needed.setdefault(p, []).append((wire.shown, wire.span, wire.scope))
    for scope in graph.loops.values():
        if scope.parent is not None and not _is_loopy(graph, scope.extent):
            needed.setdefault(scope.extent, []).append(("this loop", scope.span, scope.parent))
    given = list(graph.requirements)
    for wire, (kind, text, span) in graph.contracts.items():
        made = graph.producer[wire]
        if kind == "assume" and wire.scope is graph.body and isinstance(made, g.Op):
            given += [(p, f"assume {text}", span) for p in _about_sizes(made.tree)]
    graph.requirements = []
    for p, what, span in given:
        _constant_ok(el, p, what, span)
        graph.requirements.append((p, what, span))
    for p, uses in needed.items():
        _constant_ok(el, p, *uses[0][:2])
        if p.const() is None:
            by_scope = {scope: (what, span) for what, span, scope in reversed(uses)}
            open_ = [use for scope, use in by_scope.items() if not _follows(el, p, scope)]
            if open_:
                graph.requirements.append((p, *open_[-1]))
    known = Known(graph)
    for p, wire in inner:
        if any(leaf in graph.dynamic for leaf in p.leaves()):
            note = f"{wire.shown} would have size {show_size_named(p, graph.size_names)}, which is only known when the program runs"
            help_ = "let the rounds update an array of a known size: y = {z} init .., z = last z with [..] = .."
            fail("E0919", wire.span, notes=[note], help=help_, where=graph.name)
        if not known.about(p).proves(p):
            shown = show_size_named(p, graph.size_names)
            fail("E0913", wire.span, what=wire.shown, size=shown, help=_other_rounds(graph, p), where=graph.name)
    for scope in graph.loops.values():
        if any(leaf in graph.dynamic for leaf in scope.extent.leaves()) and not known.about(scope.extent).proves(scope.extent):
            fail("E0913", scope.span, what="this loop", size=show_size_named(scope.extent, graph.size_names), help=_other_rounds(graph, scope.extent), where=graph.name)
    for p, what, span in given:
        if _is_loopy(graph, p) and not known.about(p).proves(p):
            fail("E0913", span, what=what, size=show_size_named(p, graph.size_names), help=_other_rounds(graph, p), where=graph.name)
    graph.requirements = [r for r in graph.requirements if not _is_loopy(graph, r[0])]


def _other_rounds(graph: g.Graph, p: Poly) -> str:
    """What to do about a size that some round makes negative."""
    for leaf in p.leaves():
        if leaf in graph.loops and (factor := p.slope(leaf)) is not None and factor.const():
            if (factor.const() or 0) < 0:
                return "let the loop end earlier: forward <<low:high>>"
            missing = (p - poly(leaf)).const() if factor.const() == 1 else None
            return f"let the loop begin later: forward <<{-missing if missing is not None and missing < 0 else 'low'}:high>>"
    return "make it a size that is >= 0 whatever the others are: the difference the other way round, or a sum"


def _about_sizes(tree: g.Tree) -> list[Poly]:
    """What a condition asks of sizes alone: polynomials that must be >= 0."""

    def size(e: g.Tree) -> Poly | None:
        match e:
            case g.SizeValue(p):
                return p
            case g.Literal(int() as value) if not isinstance(value, bool):
                return poly(value)
            case g.Operate("add" | "sub" | "mul" as op, (left, right)):
                a, b = size(left), size(right)
                if a is not None and b is not None:
                    return a + b if op == "add" else a - b if op == "sub" else a * b
        return None

    match tree:
        case g.Operate("and", args):
            return [p for a in args for p in _about_sizes(a)]
        case g.Operate("lt" | "le" | "gt" | "ge" | "eq" as op, (left, right)):
            a, b = size(left), size(right)
            if a is not None and b is not None:
                return {"lt": [b - a - 1], "le": [b - a], "gt": [a - b - 1], "ge": [a - b], "eq": [a - b, b - a]}[op]
    return []


def _is_loopy(graph: g.Graph, p: Poly) -> bool:
    return any(leaf in graph.loops or leaf in graph.dynamic for leaf in p.leaves())


def _constant_ok(el: Elaborator, p: Poly, what: str, span: Span) -> None:
    value = p.const()
    if value is not None and value < 0:
        beyond = re.fullmatch(r"index (.*) of (.*)", what)
        if beyond is not None:
            help_ = f"it needs {-value} element{'s' if value < -1 else ''} more" if not beyond[1].startswith("-") else "indices begin with 0"
            notes = [f"{beyond[2]} has too few elements for index {beyond[1]}"]
            fail("E0914", span, name=el.graph.name, what=f"what is behind {what}", size=value, notes=notes, help=help_, where=el.graph.name)
        fail("E0914", span, name=el.graph.name, what=what, size=value, help=f"make it larger by {-value}", where=el.graph.name)


def _follows(el: Elaborator, p: Poly, scope: g.Scope) -> bool:
    """True when an array inside loops has a size >= 0 simply because the loops run at all."""
    indices = [x.index for x in scope.chain() if x.index is not None]
    if not indices:
        return False
    bare = Known(el.graph)
    bare.sizes = ()

    return facts(tuple(bare.ranges(indices))).proves(p)


def _escapes(el: Elaborator) -> None:
    """A loop index in the type of something outside the loop."""
    graph = el.graph
    for wire in graph.wires:
        for p in sizes_in(wire.type):
            for leaf in p.leaves():
                loop = graph.loops.get(leaf)
                if loop is not None and not wire.scope.within(loop):
                    shown = show_type(wire.type, graph.size_names)
                    note = f"{wire.shown} would have type {shown}, but {leaf} is the index of a loop"
                    fail("E0919", wire.span, notes=[note], where=graph.name)


def _other_index(el: Elaborator, b: Bound) -> str | None:
    """What to write for an index that is not proved; None leaves the usual help."""
    if b.index.const() is not None:
        return "indices begin with 0 and end before the number of elements"
    if any(leaf in el.graph.dynamic for leaf in b.index.leaves()):
        return f"write clamp<<{show_size_named(b.extent, el.graph.size_names)}>>({b.text}), or wrap; or give it the type idx<<..>>"
    return None


def _bounds(el: Elaborator) -> None:
    """Indices lie in their arrays: proved, or, where they are sizes, a condition on the operator's use."""
    known = Known(el.graph)
    for b in el.bounds:
        around = [x.index for x in b.scope.chain() if x.index is not None]
        context = known.about(b.index, b.extent, *map(poly, around))
        if not context.proves_range(b.index, b.extent):
            goals = [p for p in (b.index, b.extent - 1 - b.index) if not context.proves(p)]
            if not any(_is_loopy(el.graph, p) or p.const() is not None for p in goals):
                el.graph.requirements += [(p, f"index {b.text} of {b.wire.shown}", b.span) for p in goals]
                continue
            high = show_size_named(b.extent - 1, el.graph.size_names)
            notes = [f"{name} is in 0..{show_size_named(known.range_of(sym) - 1, el.graph.size_names)}" for sym in known.ranged(b.index.leaves()) for name in (sym.name,)]
            fail("E0918", b.span, index=b.text, what=b.wire.shown, high=high, notes=notes, help=_other_index(el, b), where=el.graph.name)
