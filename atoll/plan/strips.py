"""Sums over the index that loops are cut along, strip by strip: what the loops make for the sums needs memory for a strip only.

    pieces of n:  x[i, c, j] = ...                         strips lo..hi of n, in order:
    pieces of c:  s[c, j] = sum over i:n of x[i, c, j]        pieces of lo..hi:  x[i - lo, c, j] = ...
                                                              pieces of c:  s[c, j] += sum over i in lo..hi of x[i - lo, c, j]

This is the shape of gradients: adjoints of a round for every i, and sums of them over all i. Sums and products of batches are made so when they
read, of what the loops make, the elements of their own i only, and when some array would have been kept for nothing else. Rounds are added
in order, so results do not depend on threads; strips are as long as sizes say (lower/strip_code.py).
"""

from __future__ import annotations

from atoll.ainf import ir
from atoll.plan.fuse import Fuser, Group, Strip, accumulates_in_memory
from atoll.plan.stages import Stage
from atoll.sizes import Sym, poly


def in_strips(groups: list[Group], fuser: Fuser) -> list[Group]:
    """The groups, with the sums that go strip by strip in groups of their own behind those that make what they add."""
    readers: dict[ir.Line, set[Stage]] = {}
    for stage in fuser.stages:
        for ref in stage.refs:
            readers.setdefault(ref.line, set()).add(stage)
    where = {stage: k for k, group in enumerate(groups) for stage in group.stages}
    found: list[tuple[Group, dict[Stage, ir.Binder]]] = []
    taken: set[Group] = set()
    for k, group in enumerate(groups):
        if not group.is_cut or not fuser.inplace.head.isdisjoint(group.stages) or not _simple(group, fuser):
            continue
        sums = {s: b for s in fuser.stages if where[s] > k and groups[where[s]] not in taken and (b := _sum_of(s, group, k, where, fuser)) is not None}
        lines = [s.line for s in group.stages if s.line is not None and group.members[s] in s.dims and readers.get(s.line, set()) <= {*group.stages, *sums}]
        kept = [line for line in lines if not readers.get(line, set()).isdisjoint(sums)]
        if any(len(line.dims) > 1 for line in kept):
            found.append((group, sums))
            taken |= {group, *(groups[where[s]] for s in sums)}
    for group, sums in found:
        _move(groups, group, sums, fuser)
    return [group for group in groups if group.stages]


def _simple(group: Group, fuser: Fuser) -> bool:
    """Nothing goes from one round of the group to another but sums, and nothing is changed in place."""
    for stage, binder in group.members.items():
        if stage.after or stage.alone or isinstance(stage.prim, ir.Print) or (binder in stage.inner and not isinstance(stage.prim, ir.Reduce)):
            return False
    return not any(_in_place(stage, fuser) for stage in group.stages)


def _in_place(stage: Stage, fuser: Fuser) -> bool:
    line = stage.line
    return line is not None and any((line, k) in fuser.inplace.takes or (line, k) in fuser.inplace.taken for k in range(len(line.results)))


def _sum_of(stage: Stage, group: Group, number: int, where: dict[Stage, int], fuser: Fuser) -> ir.Binder | None:
    """The index that a stage sums over if it sums, over the indices of a group, what the group makes for each."""
    if stage.conds or stage.after or stage.alone or not stage.dims or not fuser.outer_candidates(stage) or _in_place(stage, fuser):
        return None
    if stage.contraction is not None:
        over = stage.contraction.sums
        if stage.contraction.cut is not None or len(over) != 1:
            return None
    else:
        over = stage.inner
        if not isinstance(stage.prim, ir.Reduce) or not accumulates_in_memory(stage, fuser.orders[stage]):
            return None
    if over[0].extent != group.extent:
        return None
    related = False
    for other, ref in fuser.reads(stage):
        if other in group.members:
            if ref is None or not fuser.same_index(other, group.members[other], ref, poly(over[0])):
                return None
            related = True
        elif where[other] >= number:
            return None
    return over[0] if related else None


def _move(groups: list[Group], group: Group, sums: dict[Stage, ir.Binder], fuser: Fuser) -> None:
    """Take the sums out of their groups and put them behind the one that makes what they add."""
    name = group.members[group.stages[0]].name
    strip = group.strip = Strip(Sym(f"{name}_first"), Sym(f"{name}_last"), group, [], sums)
    for old in groups:
        old.stages = [s for s in old.stages if s not in sums]
        old.members = {s: b for s, b in old.members.items() if s not in sums}
    for stage in sums:
        binder = fuser.outer_candidates(stage)[0]
        home = next((g for g in strip.adding if g.extent == binder.extent), None)
        if home is None:
            home = Group(Sym(f"{binder.name}_lo"), Sym(f"{binder.name}_hi"), binder.extent, strip=strip)
            strip.adding.append(home)
        home.members[stage] = binder
        home.stages.append(stage)
    at = groups.index(group) + 1
    groups[at:at] = strip.adding
