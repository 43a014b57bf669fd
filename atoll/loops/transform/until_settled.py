"""any and all in blocks, until the answer is known (strip-mining of a reduction with an absorbing element).

    s = or over r of p(r)
becomes
    var s = False
    for in order b in blocks:
        if not s:  hit = or over r in the block of (1 if p(r) else 0);  s := hit != 0

    until_settled(loop, size, kind)    blocks of so many rounds; the answer of a block is a number of this type

Right because True or anything is True (and False and anything is False): blocks after the one that settles it need not be made, and nobody sees whether they are where what is in a
round cannot fail, stores nothing and changes no variable. `all` looks for a round that does not hold.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.questions import straight
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.split import block_end, first_of, over_blocks
from atoll.sizes import Sym
from atoll.types.dtypes import BOOL, DType


def until_settled(loop: lp.Accumulate, size: int, kind: DType) -> Made:
    if len(loop.accs) != 1 or loop.accs[0].monoid not in ("or", "and") or loop.accs[0].var.dtype is not BOOL:
        return Refused("it is no question whether some, or all, of its rounds hold")
    if not all(isinstance(s, (lp.Let, lp.Add)) for s in loop.body) or sum(isinstance(s, lp.Add) for s in loop.body) != 1:
        return Refused("a round does more than say whether it holds")
    return _made(loop, size, kind) if straight(loop.body) else Refused("a round may fail, or cannot be copied")


def _made(loop: lp.Accumulate, size: int, kind: DType) -> lp.Stmts:
    answer, some = loop.accs[0].var, loop.accs[0].monoid == "or"
    block, hit = Sym(f"{loop.sym.name}_block"), fresh_like("hit", kind)
    first = first_of(loop, size, block)
    until_there, end = block_end(f"{loop.sym.name}_end", first, size, loop.high)
    body: list[lp.Stmt] = []
    for s in Copier({}).stmts(loop.body):
        if isinstance(s, lp.Add):
            wanted = s.value if some else lp.Call("not", (s.value,), BOOL)
            body.append(replace(s, var=hit, monoid="or", value=lp.Cast(wanted, kind)))
        else:
            body.append(s)
    settled = lp.Call("ne" if some else "eq", (lp.Use(hit), lp.Const(0, kind)), BOOL)
    work: list[lp.Stmt] = [until_there, lp.Accumulate(loop.sym, first, end, body, [lp.Acc(hit, "or")]), lp.Assign(answer, settled)]
    ask = lp.If((lp.Test("false" if some else "true", None, lp.Use(answer)),), work)
    return [lp.Declare(answer, lp.Const(not some, BOOL)), over_blocks(loop, size, block, [ask])]
