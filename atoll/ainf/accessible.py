"""Accessibility of conditional lines: under which conditions a primitive may read what it reads.

A line with conditions has a value only where they hold, so whoever reads it must have them too, or be a `Select` that reads it in the
branch where they hold. The builder puts these conditions on the lines it makes; the checker finds lines that lack one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from atoll.ainf import ir
from atoll.ainf.scan_prim import blocks, line_refs, part_refs, parts
from atoll.sizes import Atom, Poly, Quot, poly
from atoll.sizes.prover import Facts, facts


def exists_if(ref: ir.Ref) -> tuple[ir.Cond, ...]:
    """The conditions without which what is referred to has no value: those of its line, and those without which the first state of a loop is not there."""
    return (*ref.line.conds, *begins_if(ref.line, ref.result))


def begins_if(line: ir.Line, result: int) -> tuple[ir.Cond, ...]:
    """The conditions of its branch without which the first state of a loop is not there. Where they hold and others of the branch do not, the loop has
    no rounds, and the state is what it was before."""
    prim = line.prim
    if not isinstance(prim, (ir.Loop, ir.While)) or not prim.when or not prim.state[result].binders:
        return ()
    found: set[ir.Cond] = set()
    for ref in ir.operand_refs(prim.state[result].body):
        env = dict(zip(ref.line.dims, ref.index, strict=False))
        found.update(cond.subst(env) for cond in exists_if(ref))
    return tuple(cond for cond in prim.when if cond in found)


def needed_conds(prim: Any, axes: Iterable[ir.Ref], home: ir.Block) -> dict[ir.Cond, None]:
    """Conditions of the conditional lines of block `home` that a primitive or the axes of its results read, seen from the primitive's place."""

    def of(used: Iterable[ir.Ref]) -> dict[ir.Cond, None]:
        found: dict[ir.Cond, None] = {}
        for ref in used:
            if ref.line.block is home and (conds := exists_if(ref)):
                env = dict(zip(ref.line.dims, ref.index, strict=False))
                found.update({cond.subst(env): None for cond in conds})
        return found

    if isinstance(prim, ir.Select):
        needed: dict[ir.Cond, None] = {}
        for k, cond in enumerate(prim.conds):  # each test is made where those before it hold
            needed.update({c: None for c in of(cond.refs()) if not follows(c, prim.conds[:k])})
        needed.update({c: None for c in of(ir.operand_refs(prim.then)) if not follows(c, prim.conds)})
        needed.update({c: None for c in of(ir.operand_refs(prim.orelse)) if not fails_with(c, prim.conds)})
        return needed
    needed = of(axes)
    for part in parts(prim):
        found = of(part_refs(part, inside=False))
        if found and isinstance(part, ir.Abs) and part.binders:  # what its elements need holds where it has elements at all
            lengths = of(ref for b in part.binders for ref in ir.poly_refs(b.extent))
            there = within(part.binders)
            found = {c: None for c in found if c in lengths or not holds(c, there)}
        needed.update(found)
    for block in blocks(prim):
        inside: dict[ir.Cond, None] = {}
        for line in block.lines:
            inside.update(_needed_by_line(line, home))
        if inside and isinstance(prim, (ir.Loop, ir.While)) and prim.index is not None:
            t = poly(prim.index)
            rounds = facts().add([t, prim.size - 1 - t, prim.size - 1])
            inside = {c: None for c in inside if not holds(c, rounds)}
        needed.update(inside)
    if isinstance(prim, (ir.Scatter, ir.Loop, ir.While)) and prim.when:
        needed = {c: None for c in needed if not follows(c, prim.when)}
    return needed


def ranges_exist_if(binders: Iterable[ir.Binder], home: ir.Block) -> tuple[ir.Cond, ...]:
    """Conditions under which the lengths of these ranges are there: where they do not hold, there are no rounds. A line over such a range need not have them."""
    lengths = (ref for x in binders for p in (x.extent, *x.facts) for ref in ir.poly_refs(p))
    found: dict[ir.Cond, None] = {}
    for ref in lengths:
        if ref.line.block is home:
            env = dict(zip(ref.line.dims, ref.index, strict=False))
            found.update({cond.subst(env): None for cond in exists_if(ref)})
    return tuple(found)


def with_their_own(needed: dict[ir.Cond, None], home: ir.Block) -> dict[ir.Cond, None]:
    """Conditions of block `home` together with those under which they can be tested at all."""
    found = dict(needed)
    queue = list(needed)
    while queue:
        for ref in queue.pop().refs():
            if ref.line.block is home and (conds := exists_if(ref)):
                env = dict(zip(ref.line.dims, ref.index, strict=False))
                new = [c for cond in conds if (c := cond.subst(env)) not in found]
                found.update(dict.fromkeys(new))
                queue += new
    return found


def _needed_by_line(line: ir.Line, home: ir.Block) -> dict[ir.Cond, None]:
    """The same for a line of a block inside: it reads under its own conditions, each of which is tested where those before it hold."""
    if not any(ref.line.block is home and exists_if(ref) for ref in line_refs(line)):
        return {}
    found: dict[ir.Cond, None] = {}
    for k, cond in enumerate(line.conds):
        found.update({c: None for c in needed_conds(ir.Truth(cond), (), home) if not follows(c, line.conds[:k])})
    sizes = [p for result in line.results for p in result.axes] + [d.extent for d in line.dims]
    inside = needed_conds(line.prim, [ref for p in sizes for ref in ir.poly_refs(p)], home)
    found.update({c: None for c in inside if not follows(c, line.conds)})
    return found


def tested_in_order(needed: Iterable[ir.Cond], home: ir.Block) -> tuple[ir.Cond, ...]:
    """Conditions, each after those without which what it reads has no value."""
    wanted = dict.fromkeys(needed)
    found: dict[ir.Cond, None] = {}
    begun: set[ir.Cond] = set()

    def visit(cond: ir.Cond) -> None:
        if cond in begun:
            return
        begun.add(cond)
        for ref in cond.refs():
            if ref.line.block is home and (conds := exists_if(ref)):
                env = dict(zip(ref.line.dims, ref.index, strict=False))
                for before in conds:
                    if (new := before.subst(env)) in wanted:
                        visit(new)
        found[cond] = None

    for cond in wanted:
        visit(cond)
    return tuple(found)


def within(binders: Iterable[ir.Binder]) -> Facts:
    """What is known inside loops over these indices."""
    return facts().add([fact for b in binders for fact in (poly(b), b.extent - 1 - poly(b), b.extent - 1)])


def holds(cond: ir.Cond, known: Facts) -> bool:
    if cond.kind != "ge" or cond.poly is None:
        return False
    return known.proves(cond.poly) or (bool(lengths := _lengths(cond.poly)) and known.add(lengths).proves(cond.poly))


def _lengths(p: Poly) -> list[Poly]:
    """The number of rounds of range(low, high) is at least high - low, where these cannot wrap around."""
    found = []
    for leaf in p.leaves():
        prim = leaf.ref.line.prim if isinstance(leaf, ir.RefAtom) and not leaf.ref.index else None
        if isinstance(prim, ir.Extent):
            ends = [poly(int(x.value)) if isinstance(x, ir.Const) else x.poly if isinstance(x, ir.IndexValue) else poly(ir.ref_atom(x)) for x in (prim.low, prim.high)]
            if all(_plain(end) for end in ends):
                found.append(poly(leaf) - ends[1] + ends[0])
    return found


def _plain(p: Poly) -> bool:
    """A number, a value, its remainder by a number, or what is left without the remainder."""
    if p.const() is not None or p.single() is not None:
        return True
    quotients = [a for a in p.atoms() if isinstance(a, Quot) and a.den.const() is not None and a.num.single() is not None]
    return any(p in (q.den * poly(q), q.num - q.den * poly(q)) for q in quotients)


def follows(cond: ir.Cond, conds: tuple[ir.Cond, ...]) -> bool:
    """True when a condition on indices holds wherever these do: code under i > 3 or i != 0 reads what exists from i >= 1 on, and the builder, which has proved that, does not ask again.
    What exists for n >= 2 does under i >= 1 too, where i is an index of n."""
    if cond in conds:
        return True
    if cond.kind != "ge" or cond.poly is None:
        return False
    leaves = cond.poly.leaves()
    near = [c for c in conds if c.poly is not None and not leaves.isdisjoint(_around(c.poly))]
    if not near:
        return False
    known = _in_bounds([cond.poly, *(c.poly for c in near if c.poly is not None)])
    return known.add([fact for c in near for fact in c.facts() or _apart(c, known)]).proves(cond.poly)


def _around(p: Poly) -> frozenset[Atom]:
    """The atoms of a polynomial, and those its indices are bounded by."""
    return p.leaves().union(*(x.extent.leaves() for x in p.leaves() if isinstance(x, ir.Binder)))


def _apart(cond: ir.Cond, known: Facts) -> list[Poly]:
    """What follows from a condition that something is not 0 (Known.apart, of indices)."""
    if cond.kind != "ne" or cond.poly is None:
        return []
    return [cond.poly * sign - 1 for sign in (1, -1) if known.proves(cond.poly * sign)]


def _in_bounds(polys: list[Poly]) -> Facts:
    """What the indices of polynomials are because they are indices: of a range, or of the values of a line."""
    found: dict[Poly, None] = {}
    for p in polys:
        for leaf in sorted(p.leaves(), key=lambda atom: atom.uid):
            bound = leaf.extent if isinstance(leaf, ir.Binder) else leaf.ref.line.results[leaf.ref.result].bound if isinstance(leaf, ir.RefAtom) else None
            if bound is not None:
                found.update({poly(leaf): None, bound - 1 - poly(leaf): None})
    return facts().add(found)


def fails_with(cond: ir.Cond, conds: tuple[ir.Cond, ...]) -> bool:
    """True when `cond` holds wherever not all of `conds` hold: it is the negation of the only one, or says "not all of them"."""
    if len(conds) == 1 and cond == conds[0].negated():
        return True
    if cond.kind != "false" or cond.ref is None:
        return False
    parts: set[ir.Cond] = set().union(*({c} if c.kind != "true" or c.ref is None else _conjuncts(c.ref) for c in conds))
    return parts <= _conjuncts(cond.ref)


def _conjuncts(operand: ir.Operand) -> set[ir.Cond]:
    """The conditions a bool made with `and` is made of."""
    if not isinstance(operand, ir.Ref):
        return set()
    env = dict(zip(operand.line.dims, operand.index, strict=False))
    match operand.line.prim:
        case ir.Op("and", args):
            return set().union(*(_conjuncts(ir.subst_operand(a, env)) for a in args))
        case ir.Op("not", (arg,)) if isinstance(arg, ir.Ref):
            return {ir.Cond("false", None, ir.subst_operand(arg, env))}  # type: ignore[arg-type]
        case ir.Truth(cond):
            return {cond.subst(env)}
    return {ir.Cond("true", None, operand)}
