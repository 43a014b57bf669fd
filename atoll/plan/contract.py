"""Which sums are products of two arrays, to be computed by the matrix kernel (runtime/native/product.c).

A sum (or a sum of sums) over a product of two references is a contraction when some of its indices are in the left reference only (rows),
some in the right only (columns), and both references are affine in them. Indices in both are batches: a loop around the product.
Rows and columns of several indices are one when every array that has them stores them one after the other; what does
not fit becomes a batch as well, which is how a convolution is a product for every line of its image.

An operand may be a formula. One that has every index of the loops around the product is computed for each round of them, into memory for
that round only; any other is stored first. A product whose first index is its row is cut along it, with batches inside: what follows
row by row then shares its pieces.

A sum that a few elements are without (those on a diagonal, at an edge) is computed for these, too. One that half of a square is without is a product
for every few rows, with as many columns as these need.

A matrix times a vector is a product without columns. It is one only when the matrix is stored row by row and used nowhere else, and when the sums are a
result: two sums over one matrix share its rows in one loop, and what is made of a sum is made where it is, which is worth more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atoll.ainf import ir
from atoll.ainf.identity import is_read, read_arg
from atoll.ainf.scan_prim import line_refs
from atoll.sizes import Poly, poly
from atoll.sizes.poly import product
from atoll.sizes.prover import facts

_CHEAP = (ir.Op, ir.Cast, ir.Select, ir.Truth, ir.Extent)
_LEVELS = 4


@dataclass(frozen=True, slots=True)
class Contraction:
    """target[batch, rows, columns] = sum over sums of left * right. Columns lie along the last axis of the target."""

    batch: tuple[ir.Binder, ...]
    rows: tuple[ir.Binder, ...]
    columns: tuple[ir.Binder, ...]
    sums: tuple[ir.Binder, ...]  # outermost first
    left: ir.Ref
    right: ir.Ref
    cut: ir.Binder | None = None  # the row that pieces are made of, with batches inside them
    triangle: tuple[bool, int] | None = None  # only columns up to the row plus so many are wanted (True), or from the row minus so many on

    def is_packed(self, side: ir.Ref) -> bool:
        """A formula that no two rounds of the loops around the product share an element of: computed in each for itself."""
        around = [*self.batch, *([self.cut] if self.cut is not None else [])]
        alone = [p.single() for p in side.index]
        own = [b for b in (*self.batch, *self.rows, *self.columns, *self.sums) if b in side.leaves()]
        return isinstance(side.line.prim, _CHEAP) and bool(around) and all(b in own for b in around) and all(alone.count(b) == 1 for b in own)


def find_contractions(lines: list[ir.Line], results: Sequence[ir.Abs]) -> tuple[dict[ir.Line, Contraction], set[ir.Line], set[ir.Line]]:
    """Contractions by their outermost sum; lines that must be stored for them; lines inside that nobody else needs."""
    uses: dict[ir.Line, int] = {}
    for line in lines:
        for ref in line_refs(line):
            uses[ref.line] = uses.get(ref.line, 0) + 1
    read = set(uses)
    for array in results:
        for ref in ir.operand_refs(array.body):
            uses[ref.line] = uses.get(ref.line, 0) + 1
    here = set(lines)
    found: dict[ir.Line, Contraction] = {}
    stored: set[ir.Line] = set()
    absorbed: set[ir.Line] = set()
    for line in reversed(lines):  # outer sums come after inner ones
        if line in absorbed or not _is_sum(line):
            continue
        chain = _chain(line, uses, here)
        if chain is None:
            continue
        sums, inner, factors = chain
        contraction = classify(line, sums, factors, here) if len(line.dims) > 1 else None if line in read else _times_vector(line, sums, factors, uses)
        if contraction is None or (any(c.poly is not None for c in line.conds) and not always_there(line, sums, factors)):
            continue
        halves = [c for c in line.conds if _is_triangle(c, line)]
        if halves:
            if len(halves) > 1 or contraction.batch or len(contraction.rows) != 1 or len(contraction.columns) != 1:
                continue
            contraction = replace(contraction, triangle=_triangle(halves[0], contraction))
        found[line] = contraction
        absorbed |= inner
        for side in (contraction.left, contraction.right):
            if side.line in here and isinstance(side.line.prim, _CHEAP) and not contraction.is_packed(side):
                stored.add(side.line)
    return found, stored, absorbed


def _is_sum(line: ir.Line) -> bool:
    prim = line.prim
    if not isinstance(prim, ir.Reduce) or prim.monoid != "add" or line.results[0].dtype.name not in ("f32", "f64") or not line.dims:
        return False
    return all(holds_mostly(c, line) or _is_triangle(c, line) for c in line.conds)


def _is_triangle(cond: ir.Cond, line: ir.Line) -> bool:
    """A condition that about half of the elements of a square fulfil: i >= j, i < j + 3."""
    if cond.poly is None or cond.kind != "ge":
        return False
    inside = [d for d in line.dims if d in cond.poly.leaves()]
    steps = [cond.poly.slope(d) for d in inside]
    if len(inside) != 2 or inside[0].extent != inside[1].extent or steps not in ([poly(1), poly(-1)], [poly(-1), poly(1)]):
        return False
    offset = (cond.poly - sum((s * d for s, d in zip(steps, inside, strict=True) if s is not None), poly(0))).const()
    return offset is not None and -8 <= offset <= 8


def _triangle(cond: ir.Cond, found: Contraction) -> tuple[bool, int]:
    assert cond.poly is not None
    row, column = found.rows[0], found.columns[0]
    lower = cond.poly.slope(row) == 1
    offset = (cond.poly - (poly(row) - column if lower else poly(column) - row)).const()
    assert offset is not None
    return lower, offset


def holds_mostly(cond: ir.Cond, line: ir.Line) -> bool:
    """A condition on the indices of a sum that all but a few of its elements fulfil: off a diagonal, away from an edge. The few are cheaper to compute than to leave out."""
    if cond.poly is None:
        return not cond.leaves()  # it holds for all of them or for none, and the product is under it
    inside = [d for d in line.dims if d in cond.poly.leaves()]
    steps = [None if step is None else step.const() for step in (cond.poly.slope(d) for d in inside)]
    if not inside or not all(steps):
        return False
    if cond.kind == "ne":
        return all(step in (1, -1) for step in steps)
    if cond.kind != "ge":
        return False
    rest = cond.poly - sum((step * poly(d) for d, step in zip(inside, steps, strict=True) if step), poly(0))
    if any(d in rest.leaves() for d in inside):
        return False
    least = rest + sum((step * (d.extent - 1) for d, step in zip(inside, steps, strict=True) if step and step < 0), poly(0))
    few = least.const()
    return few is not None and few >= -8


def always_there(line: ir.Line, sums: tuple[ir.Binder, ...], factors: tuple[ir.Ref, ir.Ref]) -> bool:
    """Whether what a conditional sum reads is there for all its indices, so that it may be computed where nobody wants it, too."""
    loops = (*line.dims, *sums)
    if any(isinstance(a, ir.RefAtom) for b in loops for a in b.extent.leaves()):
        return False  # a size that exists only under the condition
    known = facts(tuple(p for b in loops for p in (poly(b), b.extent - 1 - b)))
    return all(known.proves_range(p, n) for side in factors for p, n in zip(side.index, side.line.extents(side.result), strict=True))


def _chain(line: ir.Line, uses: dict[ir.Line, int], here: set[ir.Line]) -> tuple[tuple[ir.Binder, ...], set[ir.Line], tuple[ir.Ref, ir.Ref]] | None:
    """The sums from the outermost in, the lines inside, and the two factors in terms of all indices."""
    prim = line.prim
    assert isinstance(prim, ir.Reduce)
    sums, inner = [prim.binder], set[ir.Line]()
    arg = _through_reads(prim.arg)
    whole = set(line.conds)  # those inside hold where these do
    while isinstance(arg, ir.Ref) and arg.line in here and arg.line.keep is None and uses.get(arg.line) == 1 and whole.issuperset(c for c in arg.line.conds if c.poly is None) and not any(c.poly for c in arg.line.conds):
        env = dict(zip(arg.line.dims, arg.index, strict=False))
        step = arg.line.prim
        if isinstance(step, ir.Reduce) and step.monoid == "add" and len(sums) < _LEVELS:
            sums.append(step.binder)
            inner.add(arg.line)
            arg = _through_reads(ir.subst_operand(step.arg, env))
            continue
        if isinstance(step, ir.Op) and step.name == "mul":
            left, right = (_through_reads(ir.subst_operand(a, env)) for a in step.args)
            if isinstance(left, ir.Ref) and isinstance(right, ir.Ref):
                return tuple(sums), {*inner, arg.line}, (left, right)
        return None
    return None


def _through_reads(operand: ir.Operand) -> ir.Operand:
    while isinstance(operand, ir.Ref) and is_read(operand.line) and not _is_window(operand.line):
        operand = ir.subst_operand(read_arg(operand.line), dict(zip(operand.line.dims, operand.index, strict=False)))
    return operand


def _is_window(line: ir.Line) -> bool:
    """A read whose elements are named because they do not lie in rows where they are read: i + p (ad/kronecker.py)."""
    of = read_arg(line)
    return isinstance(of, ir.Ref) and any(len([x for x in p.leaves() if isinstance(x, ir.Binder)]) > 1 for p in of.index)


def classify(line: ir.Line, sums: tuple[ir.Binder, ...], factors: tuple[ir.Ref, ir.Ref], here: set[ir.Line]) -> Contraction | None:
    """A sum of products of two factors as a contraction, if it is one."""
    left, right = factors
    in_left, in_right = left.leaves(), right.leaves()
    if left.dtype is not right.dtype or left.dtype is not line.results[0].dtype or not all(s in in_left and s in in_right for s in sums):
        return None
    inside = [b.extent - 1 for b in (*line.dims, *sums)]  # not negative where the product has an element at all
    for side in factors:
        if any(c.kind != "ge" or c.poly not in inside for c in side.line.conds) or (side.line not in here and isinstance(side.line.prim, _CHEAP) and (side.line.keep is None or side.line.keep[0] != "store")):
            return None  # it does not always exist, or is a line of an enclosing block that may not be stored
    batch = [d for d in line.dims if d in in_left and d in in_right]
    rows = [d for d in line.dims if d in in_left and d not in in_right]
    columns = [d for d in line.dims if d in in_right and d not in in_left]
    if not rows or not columns:
        return None
    if line.dims[-1] in rows:
        left, right, rows, columns = right, left, columns, rows
    if line.dims[-1] not in columns:
        return None
    target = ir.Ref(line, 0, tuple(poly(d) for d in line.dims))
    rows, more_rows = _one_index(rows, (left, target))
    columns, more_columns = _one_index(columns, (right, target))
    batch = [d for d in line.dims if d in batch or d in more_rows or d in more_columns]
    loops = {*rows, *columns, *sums}
    if any(not loops.isdisjoint(b.extent.leaves()) for b in loops) or any(not loops.isdisjoint(b.extent.leaves()) for b in batch):
        return None
    if _too_small(columns, 8) or _too_small(sums, 4):
        return None
    if not _affine(left, (*rows, *sums), loops) or not _affine(right, (*columns, *sums), loops):
        return None
    cut = rows[0] if batch and rows == [line.dims[0]] and not any(isinstance(a, ir.Binder) for a in rows[0].extent.leaves()) else None
    return Contraction(tuple(batch), tuple(rows), tuple(columns), sums, left, right, cut)


def _times_vector(line: ir.Line, sums: tuple[ir.Binder, ...], factors: tuple[ir.Ref, ir.Ref], uses: dict[ir.Line, int]) -> Contraction | None:
    """A stored matrix, used here only, times a stored vector. A matrix of a block around is not used here only."""
    row = line.dims[0]
    matrix, vector = factors if row in factors[0].leaves() else factors[::-1]
    if len(sums) != 1 or matrix.dtype is not vector.dtype or matrix.dtype is not line.results[0].dtype or uses.get(matrix.line) != 1:
        return None
    if matrix.index != (poly(row), poly(sums[0])) or vector.index != (poly(sums[0]),) or any(side.line.conds or isinstance(side.line.prim, _CHEAP) for side in factors):
        return None
    if row in sums[0].extent.leaves() or any(isinstance(a, ir.Binder) for a in row.extent.leaves()) or _too_small(sums, 64):
        return None
    return Contraction((), (row,), (), sums, matrix, vector)


def _affine(ref: ir.Ref, binders: Sequence[ir.Binder], loops: set[ir.Binder]) -> bool:
    """Every index of the reference is affine in these binders, with steps that are the same throughout."""
    for p in ref.index:
        for b in binders:
            step = p.slope(b)
            if step is None or not loops.isdisjoint(step.leaves()) or b in (p - step * b).leaves():
                return False
    return True


def _too_small(binders: Sequence[ir.Binder], least: int) -> bool:
    """Known to be so few that plain loops are as good."""
    size = product(b.extent for b in binders).const()
    return size is not None and size < least


def _one_index(binders: list[ir.Binder], refs: tuple[ir.Ref, ...]) -> tuple[list[ir.Binder], list[ir.Binder]]:
    """The longest run at the end that all arrays store one after the other, and the rest."""
    kept = [binders[-1]]
    for b in reversed(binders[:-1]):
        if not all(_follows(ref, b, kept[0]) for ref in refs):
            break
        kept.insert(0, b)
    return kept, binders[: len(binders) - len(kept)]


def _follows(ref: ir.Ref, outer: ir.Binder, inner: ir.Binder) -> bool:
    """A step of the outer index is a whole range of the inner one."""
    steps = [position(ref.line.extents(ref.result), ref.index).slope(b) for b in (outer, inner)]
    return steps[0] is not None and steps[1] is not None and steps[0] == steps[1] * inner.extent


def position(extents: Sequence[Poly], index: Sequence[Poly]) -> Poly:
    """Row-major position of an element."""
    at = poly(0)
    for p, n in zip(index, extents, strict=True):
        at = at * n + p
    return at
