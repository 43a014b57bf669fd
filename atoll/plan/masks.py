"""Sums of products under conditions: the condition goes into one of the factors, so that the sum is a product for the matrix kernel.

    sum over p of (l[i, p] * r[p, j] if c(i, p) else 0.0)          becomes
    m[i, p] = l[i, p] if c(i, p) else 0.0,  sum over p of m[i, p] * r[p, j]

where c is about the indices of l only: a triangle, the padding of a convolution, a mask of data. Of several conditions each goes into the factor whose indices it is about. What
is under a mask of other indices than its own is a product too, with the mask as ones and zeros. What c leaves out counts as 0 whatever r is, while 0 times what is not
finite is not 0: so r is looked through first, and where it holds such values the sum is computed as it was written. A factor read at sums of indices, as in l[i + u - 1],
with conditions on these is stored with its padding, not once for every pair; but where that leaves too few columns for the kernel (the weights of a convolution, a sum over
the whole image), each window is a row.

Conditions that leave most of the terms out (a band) are left alone: sums run over the range where these hold (loops/recipes/interior.py), which costs less than a product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from atoll.ainf import ir
from atoll.ainf.identity import is_read, read_arg
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.plan.contract import always_there, classify, holds_mostly
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import Facts, facts
from atoll.types.dtypes import BOOL

_SOURCES = (ir.Input, ir.Param, ir.ConstArray)
_USES = 4  # of an element of a window that is stored, at least
_EDGE = 8  # indices at an edge that a condition may leave out


def with_masks(program: ir.Program) -> ir.Program:
    """The program with such sums written as products. It is changed in place: nobody else has it yet."""
    _Rewriter(program).block(program.block, program.results)
    return program


_Places = tuple[tuple[ir.Binder, ...], tuple[Poly, ...], tuple[Poly, ...], tuple[ir.Cond, ...]]
"""Indices of a masked factor, where it reads at these, where the loops read it, and its conditions in terms of its indices."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """A factor and the conditions that go into it; `other` is what has to be finite for that, the other one. `ones`: it is 1, and has the indices of the reference."""

    ref: ir.Ref
    conds: tuple[ir.Cond, ...]
    other: ir.Ref | None
    ones: bool = False


@dataclass(frozen=True, slots=True)
class _Chain:
    """sum over sums of left * right where conds hold; `sums_inside` are the sums within the outermost, `lines` all lines inside. Without a right factor it is 1."""

    sums: tuple[ir.Binder, ...]
    left: ir.Ref
    right: ir.Ref | None
    conds: tuple[ir.Cond, ...]
    sums_inside: tuple[ir.Line, ...]
    lines: frozenset[ir.Line]


class _Rewriter:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.sizes = facts(tuple(poly(s) for s in program.sizes)).add(program.facts)
        self.count = max((line.id for line in _every(program.block)), default=0)

    def block(self, block: ir.Block, results: list[ir.Abs] | tuple[ir.Abs, ...]) -> None:
        for line in list(block.lines):  # factors of sums in a loop are put before it
            for inner in blocks(line.prim):
                self.block(inner, getattr(line.prim, "results", ()))
        uses: dict[ir.Line, int] = {}
        for line in block.lines:
            for ref in line_refs(line):
                uses[ref.line] = uses.get(ref.line, 0) + 1
        for array in results:
            for ref in ir.operand_refs(array.body):
                uses[ref.line] = uses.get(ref.line, 0) + 1
        here = set(block.lines)
        for line in [x for x in reversed(block.lines) if _is_sum(x)]:
            if isinstance(line.prim, ir.Reduce):
                chain = _chain(line, uses, here)
                if chain is not None:
                    self.rewrite(block, line, chain, here)

    def rewrite(self, block: ir.Block, line: ir.Line, chain: _Chain, here: set[ir.Line]) -> None:
        """The sum becomes a product with masked factors, computed again as it was written where that is not right."""
        loops = (*line.dims, *chain.sums)
        if any(isinstance(a, ir.Binder) for d in line.dims for a in d.extent.leaves()):
            return
        around = self.sizes.add(p for b in loops for p in (poly(b), b.extent - 1 - b))
        conds = tuple(c for c in chain.conds if c not in line.conds and (c.poly is None or c.kind != "ge" or not around.proves(c.poly)))
        if not conds or sum(_kind(c, loops, around) for c in conds) > 1:  # at most one triangle
            return
        for factors in _factors(chain, conds, loops):
            if line.conds and not always_there(line, chain.sums, (_base(factors[0].ref, factors[0].conds), _base(factors[1].ref, factors[1].conds))):  # it is made for all elements
                continue
            made = self.product(line, chain, factors, here)
            if made is None:
                continue
            fast, lines, sums = made
            tests = self.finite(line, [f.other for f in factors if f.other is not None], loops)
            lines = [*self.outside(block, lines), *sums]
            if tests:
                finite = _ref(tests[0][1][-1])
                if len(tests) > 1:
                    lines.append(self.line(line, (), (), ir.Op("and", tuple(_ref(looked[-1]) for _, looked in tests)), BOOL))
                    finite = _ref(lines[-1])
                fast = self.again(block, line, chain, fast, ir.Cond("false", None, finite))
                lines.append(fast)
            block.lines[:] = [x for x in block.lines if x not in chain.lines]
            line.prim = ir.Op("read", (ir.Ref(fast, 0, tuple(poly(d) for d in line.dims)),))
            self.put(block, line, lines)
            for whole, looked in tests:
                self.put_finite(block, whole, looked)
            here.difference_update(chain.lines)
            here.update(block.lines)
            return

    def product(self, line: ir.Line, chain: _Chain, factors: tuple[_Factor, _Factor], here: set[ir.Line]) -> tuple[ir.Line, list[ir.Line], list[ir.Line]] | None:
        """The sum of products of both factors, masked, where it is one for the kernel; the lines of the factors, and those of the sum."""
        loops = (*line.dims, *chain.sums)
        found = self.as_product(line, line.dims, chain.sums, [self.factor(line, f, loops, False) for f in factors], here)
        if found is not None or not any(map(_is_window, factors)) or not _wide(line, factors):
            return found
        windows = [self.factor(line, f, (*chain.sums, *line.dims), True) for f in factors]
        outer = chain.sums[0]
        if len(chain.sums) == 1 or not all(poly(outer) in f.ref.index for f in factors):
            return self.as_product(line, line.dims, chain.sums, windows, here)
        env: dict[Atom, Poly] = {b: poly(ir.Binder(b.name, b.extent)) for b in (outer, *line.dims)}  # a product for each image, then the sum of these
        dims = tuple(p.single() for p in env.values())
        moved = [None if w is None else (ir.subst_operand(w[0], env), w[1]) for w in windows]
        found = self.as_product(line, dims, chain.sums[1:], moved, here)  # type: ignore[arg-type]
        if found is None:
            return None
        each, lines, sums = found
        each.keep = ("store", "the sums of an image")
        total = self.line(line, line.dims, (), ir.Reduce("add", outer, ir.Ref(each, 0, (poly(outer), *(poly(d) for d in line.dims)))))
        return total, lines, [*sums, total]

    def as_product(
        self, line: ir.Line, dims: tuple[ir.Binder, ...], over: tuple[ir.Binder, ...], sides: list[tuple[ir.Ref, list[ir.Line]] | None], here: set[ir.Line]
    ) -> tuple[ir.Line, list[ir.Line], list[ir.Line]] | None:
        """The sum over these indices, if the matrix kernel can make it, the lines of its factors, and its own."""
        left, right = sides
        if left is None or right is None:
            return None
        made = self.line(line, (*dims, *over), (), ir.Op("mul", (left[0], right[0])))
        lines = [made]
        for k in range(len(over) - 1, -1, -1):
            made = self.line(line, (*dims, *over[:k]), (), ir.Reduce("add", over[k], _ref(made)))
            lines.append(made)
        if classify(made, over, (left[0], right[0]), {*here, *left[1], *right[1]}) is None:
            return None
        return made, [*left[1], *right[1]], lines

    def again(self, block: ir.Block, line: ir.Line, chain: _Chain, fast: ir.Line, when: ir.Cond) -> ir.Line:
        """The array of the products, or of the sums as they were written where the condition holds: a loop of one round, or none, that replaces all of it."""
        index = Sym("again")
        inner = ir.Block(block, block.ambient, frozenset((index,)))
        axes = tuple(d.extent for d in line.dims)
        self.program.index_facts[index] = (poly(index), -poly(index))
        self.count += 1
        result = ir.Result(line.results[0].dtype, axes)
        param = ir.Line(self.count, (), (), ir.Param(0, "sums"), (result,), inner, line.span, "p")
        slow = self.line(line, line.dims, (), line.prim)
        for x in chain.lines:
            x.block = inner
        slow.block = inner
        inner.params.append(param)
        inner.lines += [param, *(x for x in block.lines if x in chain.lines), slow]
        given, left = (ir.Abs(binders, ir.Ref(made, 0, tuple(poly(b) for b in binders))) for made in (fast, slow) for binders in [tuple(ir.Binder(d.name, d.extent) for d in made.dims)])
        self.count += 1
        prim = ir.Loop(index, poly(1), (given,), inner, (left,), when=(when,))
        made = ir.Line(self.count, (), (), prim, (result,), block, line.span, "s")
        made.reverse = line.reverse
        return made

    def line(self, like: ir.Line, dims: tuple[ir.Binder, ...], conds: tuple[ir.Cond, ...], prim: ir.Prim, dtype: object = None, hint: str = "x") -> ir.Line:
        self.count += 1
        result = ir.Result(like.results[0].dtype if dtype is None else dtype)  # type: ignore[arg-type]
        made = ir.Line(self.count, tuple(sorted(dims, key=lambda b: b.uid)), conds, prim, (result,), like.block, like.span, hint)
        made.reverse = like.reverse
        for span in like.also:
            made.comes_from(span)
        return made

    def put(self, block: ir.Block, before: ir.Line, lines: list[ir.Line]) -> None:
        at = block.lines.index(before)
        block.lines[at:at] = lines

    # -- the masked factor

    def factor(self, line: ir.Line, factor: _Factor, loops: tuple[ir.Binder, ...], apart: bool) -> tuple[ir.Ref, list[ir.Line]] | None:
        """The factor with 0 where its conditions do not hold, and the lines it is made of. Its indices are those of the array, moved by the padding; of windows that are
        stored `apart` those of the loops, in this order."""
        if not factor.conds:
            return factor.ref, []
        base = _base(factor.ref, factor.conds)
        found = _apart(factor, loops) if apart and _is_window(factor) else self.padded(base, factor.conds, loops)
        if found is None:
            return None
        dims, read, index, tests = found
        dtype = line.results[0].dtype
        lines: list[ir.Line] = []
        value: ir.Operand = ir.Const(1.0, dtype)
        if not factor.ones:
            there = self.sizes.add(p for d in dims for p in (poly(d), d.extent - 1 - d))
            everywhere = all(there.proves(p) and there.proves(n - 1 - p) for p, n in zip(read, base.line.extents(base.result), strict=True))
            lines.append(self.line(line, dims, () if everywhere else tests, ir.Op("read", (ir.Ref(base.line, base.result, read),)), base.dtype, "r"))
            value = _ref(lines[-1])
        lines.append(self.line(line, dims, (), ir.Select(tests, value, ir.Const(0.0, dtype)), dtype))
        return ir.Ref(lines[-1], 0, tuple(index[dims.index(d)] for d in lines[-1].dims)), lines

    def padded(self, base: ir.Ref, conds: tuple[ir.Cond, ...], loops: tuple[ir.Binder, ...]) -> _Places | None:
        """The places of an array, as far as the loops read it, and beyond it where the conditions do not hold."""
        inside = frozenset(loops)
        dims: list[ir.Binder] = []
        read: list[Poly] = []
        index: list[Poly] = []
        moved = list(conds)
        for p in base.index:
            mine = [b for b in loops if b in p.leaves()]
            if not mine:
                read.append(p)
                continue
            span = _range(p, mine)
            if span is None:
                return None
            least, most = span
            if not self.sizes.proves(most - least + 1):
                return None
            if not all(a in self.sizes.order or (isinstance(a, Sym) and not isinstance(a, ir.Binder)) for q in (least, most) for a in q.leaves()):
                return None
            t = ir.Binder(mine[0].name, most - least + 1)
            dims.append(t)
            read.append(poly(t) + least)
            index.append(p - least)
            for k, c in enumerate(moved):
                new = _in_terms_of(c, p, mine, poly(t) + least)
                if new is None:
                    return None
                moved[k] = new
        if not dims or any(a in inside for c in moved for a in c.leaves()):
            return None
        return tuple(dims), tuple(read), tuple(index), tuple(moved)

    def outside(self, block: ir.Block, lines: list[ir.Line]) -> list[ir.Line]:
        """Those of the lines that belong to this block: all, or none when nothing they need changes in the loops around, which they are then put before."""
        used = [ref.line for x in lines for ref in line_refs(x) if ref.line not in lines]
        home = max((x.block for x in used), key=lambda b: b.depth)
        changing = [a for x in lines for a in _leaves(x) if isinstance(a, Sym) and not isinstance(a, ir.Binder) and a not in self.sizes.order]
        if home is block or changing or not home.encloses(block):
            return lines
        for x in lines:
            x.block = home
        lines[-1].keep = ("store", "the masked factor")
        at = max(k + 1 for k, x in enumerate(home.lines) if x in used or isinstance(x.prim, _SOURCES))
        home.lines[at:at] = lines
        return []

    # -- whether the other factor is finite

    def finite(self, line: ir.Line, wholes: list[ir.Ref], loops: tuple[ir.Binder, ...]) -> list[tuple[ir.Ref, list[ir.Line]]]:
        """For each of these factors the lines of which the last says whether all of its elements are finite."""
        found: list[tuple[ir.Ref, list[ir.Line]]] = []
        for whole in wholes:
            dims: list[ir.Binder] = []
            index: list[Poly] = []
            for p, n in zip(whole.index, whole.line.extents(whole.result), strict=True):
                if any(b in p.leaves() for b in loops):
                    dims.append(ir.Binder("q", n.subst(dict(zip(whole.line.dims, index, strict=False)))))
                    index.append(poly(dims[-1]))
                else:
                    index.append(p)
            made = self.line(line, tuple(dims), (), ir.Op("isfinite", (ir.Ref(whole.line, whole.result, tuple(index)),)), BOOL)
            lines = [made]
            for k in range(len(dims) - 1, -1, -1):
                made = self.line(line, tuple(dims[:k]), (), ir.Reduce("and", dims[k], _ref(made)), BOOL, "s")
                lines.append(made)
            found.append((whole, lines))
        return found

    def put_finite(self, block: ir.Block, whole: ir.Ref, lines: list[ir.Line]) -> None:
        """As far outside as the factor is: what does not change in a loop is looked through once."""
        fixed = all(isinstance(a, Sym) and (isinstance(a, ir.Binder) or a in self.sizes.order) for made in lines[:1] for p in made.prim.args[0].index for a in p.leaves())  # type: ignore[union-attr]
        home = whole.line.block if fixed else block
        for made in lines:
            made.block = home
        if home is block and whole.line in block.lines and not isinstance(whole.line.prim, _SOURCES):
            at = block.lines.index(whole.line) + 1
        else:
            at = max((k + 1 for k, x in enumerate(home.lines) if x is whole.line or isinstance(x.prim, _SOURCES)), default=0)
        home.lines[at:at] = lines


def _leaves(line: ir.Line) -> frozenset[Atom]:
    """The atoms in a line's operands and conditions."""
    found: frozenset[Atom] = frozenset()
    for ref in line_refs(line):
        found |= ref.leaves()
    for c in line.conds:
        found |= c.leaves()
    for d in line.dims:
        found |= d.extent.leaves()
    return found


def _every(block: ir.Block) -> Iterator[ir.Line]:
    for line in block.lines:
        yield line
        for inner in blocks(line.prim):
            yield from _every(inner)


def _ref(line: ir.Line) -> ir.Ref:
    return ir.Ref(line, 0, tuple(poly(d) for d in line.dims))


def _is_sum(line: ir.Line) -> bool:
    prim = line.prim
    return isinstance(prim, ir.Reduce) and prim.monoid == "add" and all(c.poly is not None and holds_mostly(c, line) for c in line.conds) and line.results[0].dtype.name in ("f32", "f64") and len(line.dims) > 1 and line.keep is None


def _base(ref: ir.Ref, conds: tuple[ir.Cond, ...] = ()) -> ir.Ref:
    """What a reference reads in the end, through lines that only read, also where these conditions hold only."""
    while isinstance(ref.line.prim, ir.Op) and ref.line.prim.name == "read":
        env = dict(zip(ref.line.dims, ref.index, strict=False))
        found = ir.subst_operand(ref.line.prim.args[0], env)
        if not isinstance(found, ir.Ref) or not all(c.subst(env) in conds for c in ref.line.conds):
            break
        ref = found
    return ref


def _factors(chain: _Chain, conds: tuple[ir.Cond, ...], loops: tuple[ir.Binder, ...]) -> Iterator[tuple[_Factor, _Factor]]:
    """The ways in which conditions can go into factors that have their indices."""
    inside = frozenset(loops)

    def covered(c: ir.Cond, ref: ir.Ref) -> bool:
        return (c.leaves() & inside) <= ref.leaves()

    ones = chain.right is None
    right = chain.right if chain.right is not None else next((c.ref for c in conds if c.ref is not None and not covered(c, chain.left)), None)
    if right is None:
        return
    for first, second in ((chain.left, right), (right, chain.left)):
        mine = tuple(dict.fromkeys(c for c in conds if covered(c, first)))
        rest = tuple(dict.fromkeys(c for c in conds if c not in mine))
        if not mine or not all(covered(c, second) for c in rest):
            continue
        whole, other = _base(first, mine), _base(second, rest)
        if not whole.line.conds and not other.line.conds:
            is_one = ones and first is right, ones and second is right
            yield (_Factor(first, mine, None if is_one[1] else other, is_one[0]), _Factor(second, rest, None if is_one[0] or not rest else whole, is_one[1]))


def _apart(factor: _Factor, loops: tuple[ir.Binder, ...]) -> _Places | None:
    """Every window of a factor by itself."""
    base = _base(factor.ref, factor.conds)
    mine = [b for b in loops if b in base.leaves()]
    if any(b in loops for x in mine for b in x.extent.leaves()):
        return None
    new = {b: ir.Binder(b.name, b.extent) for b in mine}
    env: dict[Atom, Poly] = {b: poly(x) for b, x in new.items()}
    return tuple(new.values()), tuple(p.subst(env) for p in base.index), tuple(poly(b) for b in mine), tuple(c.subst(env) for c in factor.conds)


def _is_window(factor: _Factor) -> bool:
    """It is read at sums of indices."""
    return bool(factor.conds) and any(len([a for a in p.leaves() if isinstance(a, ir.Binder)]) > 1 for p in _base(factor.ref, factor.conds).index)


def _wide(line: ir.Line, factors: tuple[_Factor, _Factor]) -> bool:
    """Elements of a window are used for enough sums to be worth their place: those over indices that the factor does not have."""
    for f in factors:
        if _is_window(f):
            sizes = [d.extent.const() for d in line.dims if d not in f.ref.leaves()]
            if None not in sizes and math.prod(n for n in sizes if n is not None) < _USES:
                return False
    return True


def _chain(line: ir.Line, uses: dict[ir.Line, int], here: set[ir.Line]) -> _Chain | None:
    prim = line.prim
    assert isinstance(prim, ir.Reduce)
    sums, conds = [prim.binder], list[ir.Cond]()
    sums_inside, lines = list[ir.Line](), set[ir.Line]()
    arg = prim.arg
    while isinstance(arg, ir.Ref) and arg.line in here and uses.get(arg.line) == 1 and arg.line.keep is None:
        env = dict(zip(arg.line.dims, arg.index, strict=False))
        if not all(c.subst(env) in conds for c in arg.line.conds):
            return None
        step, made = arg.line.prim, arg.line
        if isinstance(step, ir.Reduce) and step.monoid == "add" and len(sums) < 4:
            sums.append(step.binder)
            sums_inside.append(made)
            arg = ir.subst_operand(step.arg, env)
        elif isinstance(step, ir.Select) and isinstance(step.orelse, ir.Const) and step.orelse.value == 0 and str(step.orelse.value) != "-0.0":
            conds += [c.subst(env) for c in step.conds]
            arg = ir.subst_operand(step.then, env)
        elif is_read(made, conditional=True):
            arg = ir.subst_operand(read_arg(made), env)
        elif isinstance(step, ir.Op) and step.name == "mul" and conds:
            left, right = (ir.subst_operand(a, env) for a in step.args)
            if not isinstance(left, ir.Ref) or not isinstance(right, ir.Ref):
                break
            return _Chain(tuple(sums), left, right, tuple(conds), tuple(sums_inside), frozenset((*lines, made)))
        else:
            break
        lines.add(made)
    return _Chain(tuple(sums), arg, None, tuple(conds), tuple(sums_inside), frozenset(lines)) if conds and isinstance(arg, ir.Ref) else None


def _kind(c: ir.Cond, loops: tuple[ir.Binder, ...], around: Facts) -> int:
    """How much a condition leaves out: 0 for little, or what only data know; 1 for about half of what is there; 2 for more."""
    if c.poly is None or c.kind == "ne":
        return 0
    if c.kind != "ge":
        return 2
    if around.proves(c.poly + _EDGE):
        return 0
    inside = [b for b in loops if b in c.poly.leaves()]
    steps = [c.poly.slope(b) for b in inside]
    if len(inside) == 2 and sorted(str(s) for s in steps) == ["-1", "1"] and inside[0].extent == inside[1].extent:
        rest = c.poly - sum((s * b for s, b in zip(steps, inside, strict=True) if s is not None), poly(0))
        offset = rest.const()
        return 1 if offset is not None and offset >= -_EDGE else 2
    return 2


def _range(p: Poly, binders: list[ir.Binder]) -> tuple[Poly, Poly] | None:
    """The least and the greatest value of an index that is affine in some indices."""
    least = most = p.subst({b: poly(0) for b in binders})
    for b in binders:
        step = p.slope(b)
        scale = None if step is None else step.const()
        if step is None or scale is None:
            return None
        if scale > 0:
            most = most + step * (b.extent - 1)
        else:
            least = least + step * (b.extent - 1)
    return least, most


def _in_terms_of(c: ir.Cond, p: Poly, binders: list[ir.Binder], value: Poly) -> ir.Cond | None:
    """A condition about an index p of an array, as one about its value."""
    mine: set[Atom] = set(binders)
    if mine.isdisjoint(c.leaves()):
        return c
    if len(binders) == 1 and p == poly(binders[0]):
        return c.subst({binders[0]: value})
    if c.poly is not None:
        moved = _moved(c.poly, p, binders, value)
        return None if moved is None else ir.Cond(c.kind, moved)
    assert c.ref is not None
    index = [_moved(q, p, binders, value) for q in c.ref.index]
    return None if None in index else ir.Cond(c.kind, None, ir.Ref(c.ref.line, c.ref.result, tuple(q for q in index if q is not None)))


def _moved(q: Poly, p: Poly, binders: list[ir.Binder], value: Poly) -> Poly | None:
    """A polynomial that mentions these indices as p only, with the value of p."""
    mine: set[Atom] = set(binders)
    if mine.isdisjoint(q.leaves()):
        return q
    times, unit = (None if x is None else x.const() for x in (q.slope(binders[0]), p.slope(binders[0])))
    if times is None or not unit or times % unit:
        return None
    rest = q - p * (times // unit)
    return None if not mine.isdisjoint(rest.leaves()) else rest + value * (times // unit)
