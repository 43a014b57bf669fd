"""A sum of two products in every term as two sums, each of them a product for the matrix kernel:

    sum over r of (x[i, r] * y[j, r] + u[i, r] * v[j, r])      becomes      (sum over r of x[i, r] * y[j, r]) + (sum over r of u[i, r] * v[j, r])

and the same with `-`: an update of rank 2k, complex numbers as pairs. It is done where both are seen to be products (contract.py), of lines that nobody else
reads; additions are made in another order, so only where the program allows that.
"""

from __future__ import annotations

from atoll.ainf import ir
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.plan.contract import find_contractions
from atoll.plan.masks import with_masks
from atoll.sizes import poly


def with_products(program: ir.Program) -> ir.Program:
    """The program with sums under conditions as products (masks.py), and then with such sums as two. It is changed in place: nobody else has it yet."""
    with_masks(program)
    _apart(program.block, program.results, [_last(program.block)])
    return program


def _last(block: ir.Block) -> int:
    return max((max([line.id, *(_last(inner) for inner in blocks(line.prim))]) for line in block.lines), default=0)


def _apart(block: ir.Block, results: list[ir.Abs] | tuple[ir.Abs, ...], count: list[int]) -> None:
    uses: dict[ir.Line, int] = {}
    for line in block.lines:
        for inner in blocks(line.prim):
            _apart(inner, getattr(line.prim, "results", ()), count)
        for ref in line_refs(line):
            uses[ref.line] = uses.get(ref.line, 0) + 1
    for array in results:
        for ref in ir.operand_refs(array.body):
            uses[ref.line] = uses.get(ref.line, 0) + 1
    for line in [x for x in block.lines if isinstance(x.prim, ir.Reduce) and x.keep is None]:
        of = _terms(line, uses, set(block.lines))
        if of is None:
            continue
        op, inside, terms = of
        sums = [_sum(line, term, count) for term in terms]
        at = block.lines.index(line)
        lines = [*(x for x in block.lines[:at] if x is not inside), *sums]
        found, _, _ = find_contractions([*lines, line, *block.lines[at + 1 :]], results)
        if all(s in found for s in sums):
            line.prim = ir.Op(op, tuple(_ref(s) for s in sums))
            block.lines[:at] = lines


def _terms(line: ir.Line, uses: dict[ir.Line, int], here: set[ir.Line]) -> tuple[str, ir.Line, list[ir.Operand]] | None:
    """The two products that the terms of a sum are made of, in its own indices, and the line that joins them."""
    prim = line.prim
    if not isinstance(prim, ir.Reduce) or prim.monoid != "add" or line.results[0].dtype.name not in ("f32", "f64") or len(line.dims) < 2:
        return None
    of = prim.arg
    if not isinstance(of, ir.Ref) or of.line not in here or uses.get(of.line) != 1 or of.line.keep is not None:
        return None
    joined = of.line.prim
    if not isinstance(joined, ir.Op) or joined.name not in ("add", "sub"):
        return None
    env = dict(zip(of.line.dims, of.index, strict=True))
    terms = [ir.subst_operand(a, env) for a in joined.args]
    return (joined.name, of.line, terms) if all(isinstance(t, ir.Ref) and isinstance(t.line.prim, ir.Op) and t.line.prim.name == "mul" for t in terms) else None


def _sum(like: ir.Line, term: ir.Operand, count: list[int]) -> ir.Line:
    assert isinstance(like.prim, ir.Reduce)
    count[0] += 1
    binder = ir.Binder(like.prim.binder.name, like.prim.binder.extent)
    prim = ir.Reduce("add", binder, ir.subst_operand(term, {like.prim.binder: poly(binder)}))
    made = ir.Line(count[0], like.dims, like.conds, prim, like.results, like.block, like.span, like.hint)
    made.reverse = like.reverse
    for span in like.also:
        made.comes_from(span)
    return made


def _ref(line: ir.Line) -> ir.Ref:
    return ir.Ref(line, 0, tuple(poly(d) for d in line.dims))
