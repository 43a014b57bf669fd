"""any and all in blocks, until the answer is known.

    s = or over r of p(r)
becomes
    var s = False
    for in order b in blocks of 1024:
        if not s:  hit = or over r in the block of (1 if p(r) else 0);  s := hit != 0

Numbers as wide as what is read, instead of truth values, keep the lanes of a vector apart; nothing in a block leaves it early. Blocks after the one that settles
it are skipped, which nobody sees: what is in a round cannot fail. `all` looks for a round that does not hold.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, straight
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.split import block_end, first_of, over_blocks
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Sym
from atoll.types.dtypes import BOOL, I8, I16, I32, I64, DType

_WIDE = {1: I8, 2: I16, 4: I32}


def until(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.Accumulate) or not _is_question(stmt):
            return None
        name = stmt.accs[0].var.label or ("any" if stmt.accs[0].monoid == "or" else "all")
        decisions.append(f"{name}: in blocks of {profit.ANSWER_BLOCK}, until it is known")
        return _in_blocks(stmt)

    return innermost_first(stmts, rewrite, not_products)


def _is_question(loop: lp.Accumulate) -> bool:
    rounds = (loop.high - loop.low).const()
    if len(loop.accs) != 1 or loop.accs[0].monoid not in ("or", "and") or loop.accs[0].var.dtype is not BOOL or (rounds is not None and rounds < profit.ANSWER_LEAST):
        return False
    adds = [s for s in loop.body if isinstance(s, lp.Add)]
    return len(adds) == 1 and all(isinstance(s, (lp.Let, lp.Add)) for s in loop.body) and straight(loop.body)


def _in_blocks(loop: lp.Accumulate) -> list[lp.Stmt]:
    answer, some = loop.accs[0].var, loop.accs[0].monoid == "or"
    kind = _width(loop)
    block, hit = Sym(f"{loop.sym.name}_block"), fresh_like("hit", kind)
    first = first_of(loop, profit.ANSWER_BLOCK, block)
    until_there, end = block_end(f"{loop.sym.name}_end", first, profit.ANSWER_BLOCK, loop.high)
    body: list[lp.Stmt] = []
    for s in Copier({}).stmts(loop.body):
        if isinstance(s, lp.Add):
            wanted = s.value if some else lp.Call("not", (s.value,), BOOL)
            body.append(replace(s, var=hit, monoid="or", value=lp.Cast(wanted, kind)))
        else:
            body.append(s)
    settled = lp.Call("ne" if some else "eq", (lp.Use(hit), lp.Const(0, kind)), BOOL)
    work: list[lp.Stmt] = [
        until_there,
        lp.Accumulate(loop.sym, first, end, body, [lp.Acc(hit, "or")]),
        lp.Assign(answer, settled),
    ]
    ask = lp.If((lp.Test("false" if some else "true", None, lp.Use(answer)),), work)
    return [
        lp.Declare(answer, lp.Const(not some, BOOL)),
        over_blocks(loop, profit.ANSWER_BLOCK, block, [ask]),
    ]


def _width(loop: lp.Accumulate) -> DType:
    """Numbers as wide as the widest element that rounds read."""
    widest = max((x.dtype.size for x in loads(loop.body)), default=8)
    return _WIDE.get(widest, I64)
