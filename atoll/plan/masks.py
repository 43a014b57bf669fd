"""Sums of products under conditions: the condition goes into one of the factors, so that the sum is a product for the matrix kernel.

    sum over p of (l[i, p] * r[p, j] if c(i, p) else 0.0)          becomes
    m[i, p] = l[i, p] if c(i, p) else 0.0,  sum over p of m[i, p] * r[p, j]

where c is about the indices of l only: a triangle, the padding of a convolution, a mask of data. What c leaves out counts as 0 whatever r is, while 0 times what is not
finite is not 0: so r is looked through first, and where it holds such values the sum is computed as it was written. A factor read at sums of indices, as in l[i + u - 1],
with conditions on these is stored with its padding, not once for every pair.

Conditions that leave most of the terms out (a band) are left alone: sums run over the range where these hold (loops/recipes/interior.py), which costs less than a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from atoll.ainf import ir
from atoll.ainf.identity import is_read, read_arg
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.plan.contract import classify
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import Facts, facts
from atoll.types.dtypes import BOOL

_SOURCES = (ir.Input, ir.Param, ir.ConstArray)
_EDGE = 8  # indices at an edge that a condition may leave out


def with_masks(program: ir.Program) -> ir.Program:
    """The program with such sums written as products. It is changed in place: nobody else has it yet."""
    _Rewriter(program).block(program.block, program.results)
    return program


@dataclass(frozen=True, slots=True)
class _Chain:
    """sum over sums of left * right where conds hold; `sums_inside` are the sums within the outermost, `lines` all lines inside."""

    sums: tuple[ir.Binder, ...]
    left: ir.Ref
    right: ir.Ref
    conds: tuple[ir.Cond, ...]
    sums_inside: tuple[ir.Line, ...]
    lines: frozenset[ir.Line]


class _Rewriter:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.sizes = facts(tuple(poly(s) for s in program.sizes)).add(program.facts)
        self.count = max((line.id for line in _every(program.block)), default=0)

    def block(self, block: ir.Block, results: list[ir.Abs] | tuple[ir.Abs, ...]) -> None:
        for line in block.lines:
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
        """The sum becomes a product with a masked factor, computed again as it was written where that is not right."""
        loops = (*line.dims, *chain.sums)
        if any(isinstance(a, ir.Binder) for d in line.dims for a in d.extent.leaves()):
            return
        around = self.sizes.add(p for b in loops for p in (poly(b), b.extent - 1 - b))
        if sum(_kind(c, loops, around) for c in chain.conds) > 1:  # at most one triangle
            return
        for side, other in ((chain.left, chain.right), (chain.right, chain.left)):
            inside = side.leaves()
            if any(isinstance(a, ir.Binder) and a in loops and a not in inside for c in chain.conds for a in c.leaves()):
                continue
            whole = _base(other)
            if whole.line.conds or _base(side, chain.conds).line.conds:
                continue
            made = self.masked(block, line, side, chain.conds, loops, around)
            if made is None:
                continue
            masked, lines = made
            if classify(line, chain.sums, (masked, other), {*here, *lines}) is None:
                continue
            finite, tests = self.finite(block, line, whole, loops)
            mul = self.line(line, loops, (), ir.Op("mul", (masked, other)))
            lines = [*self.outside(block, lines), mul]
            fast = mul
            for k in range(len(chain.sums) - 1, -1, -1):
                fast = self.line(line, (*line.dims, *chain.sums[:k]), (), ir.Reduce("add", chain.sums[k], _ref(fast)))
                lines.append(fast)
            again = self.again(block, line, chain, fast, ir.Cond("false", None, finite))
            block.lines[:] = [x for x in block.lines if x not in chain.lines]
            line.prim = ir.Op("read", (ir.Ref(again, 0, tuple(poly(d) for d in line.dims)),))
            self.put(block, line, [*lines, again])
            self.put_finite(block, whole, tests)
            here.difference_update(chain.lines)
            here.update(block.lines)
            return

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

    def masked(self, block: ir.Block, line: ir.Line, side: ir.Ref, conds: tuple[ir.Cond, ...], loops: tuple[ir.Binder, ...], around: Facts) -> tuple[ir.Ref, list[ir.Line]] | None:
        """The factor with 0 where the conditions do not hold, and the lines it is made of. Its indices are those of the array, moved by the padding."""
        base = _base(side, conds)
        inside = frozenset(loops)
        dims: list[ir.Binder] = []
        read: list[Poly] = []
        index: list[Poly] = []
        conds = tuple(dict.fromkeys(conds))
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
        tests = tuple(moved)
        lines: list[ir.Line] = []
        value: ir.Operand = ir.Ref(base.line, base.result, tuple(read))
        reading = self.line(line, tuple(dims), tests, ir.Op("read", (value,)), base.dtype, "r")
        lines.append(reading)
        zero = ir.Const(0.0, base.dtype)
        made = self.line(line, tuple(dims), (), ir.Select(tests, _ref(reading), zero), base.dtype)
        lines.append(made)
        return ir.Ref(made, 0, tuple(index[dims.index(d)] for d in made.dims)), lines

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

    def finite(self, block: ir.Block, line: ir.Line, whole: ir.Ref, loops: tuple[ir.Binder, ...]) -> tuple[ir.Ref, list[ir.Line]]:
        """A line that says that all elements of a factor are finite, and the lines it needs."""
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
        return _ref(made), lines

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
    return isinstance(prim, ir.Reduce) and prim.monoid == "add" and not line.conds and line.results[0].dtype.name in ("f32", "f64") and len(line.dims) > 1 and line.keep is None


def _base(ref: ir.Ref, conds: tuple[ir.Cond, ...] = ()) -> ir.Ref:
    """What a reference reads in the end, through lines that only read, also where these conditions hold only."""
    while isinstance(ref.line.prim, ir.Op) and ref.line.prim.name == "read":
        env = dict(zip(ref.line.dims, ref.index, strict=False))
        found = ir.subst_operand(ref.line.prim.args[0], env)
        if not isinstance(found, ir.Ref) or not all(c.subst(env) in conds for c in ref.line.conds):
            break
        ref = found
    return ref


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
        lines.add(arg.line)
        step = arg.line.prim
        if isinstance(step, ir.Reduce) and step.monoid == "add" and not conds and len(sums) < 4:
            sums.append(step.binder)
            sums_inside.append(arg.line)
            arg = ir.subst_operand(step.arg, env)
        elif isinstance(step, ir.Select) and isinstance(step.orelse, ir.Const) and step.orelse.value == 0 and str(step.orelse.value) != "-0.0":
            conds += [c.subst(env) for c in step.conds]
            arg = ir.subst_operand(step.then, env)
        elif is_read(arg.line, conditional=True):
            arg = ir.subst_operand(read_arg(arg.line), env)
        elif isinstance(step, ir.Op) and step.name == "mul" and conds:
            left, right = (ir.subst_operand(a, env) for a in step.args)
            if not isinstance(left, ir.Ref) or not isinstance(right, ir.Ref):
                return None
            return _Chain(tuple(sums), left, right, tuple(conds), tuple(sums_inside), frozenset(lines))
        else:
            return None
    return None


def _kind(c: ir.Cond, loops: tuple[ir.Binder, ...], around: Facts) -> int:
    """How much a condition leaves out: 0 for little, or what only data know; 1 for about half of what is there; 2 for more."""
    if c.poly is None or c.kind == "ne":
        return 0
    if c.kind != "ge":
        return 2
    if around.proves(c.poly + _EDGE):
        return 0
    inside = [b for b in loops if b in c.poly.leaves()]
    steps = [c.poly.coefficient(b) for b in inside]
    if len(inside) == 2 and sorted(str(s) for s in steps) == ["-1", "1"] and inside[0].extent == inside[1].extent:
        rest = c.poly - sum((s * b for s, b in zip(steps, inside, strict=True) if s is not None), poly(0))
        offset = rest.const()
        return 1 if offset is not None and offset >= -_EDGE else 2
    return 2


def _range(p: Poly, binders: list[ir.Binder]) -> tuple[Poly, Poly] | None:
    """The least and the greatest value of an index that is affine in some indices."""
    least = most = p.subst({b: poly(0) for b in binders})
    for b in binders:
        step = p.coefficient(b)
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
    times, unit = (None if x is None else x.const() for x in (q.coefficient(binders[0]), p.coefficient(binders[0])))
    if times is None or not unit or times % unit:
        return None
    rest = q - p * (times // unit)
    return None if not mine.isdisjoint(rest.leaves()) else rest + value * (times // unit)
