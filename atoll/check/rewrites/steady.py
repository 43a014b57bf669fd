"""What decides whether something is done is the same when it is done as when it was decided.

A statement inside `if b[0] > 0` is held to read b[0] itself, in its own place. That is so where nothing before it inside the `if` changes b[0], and where no loop changes what its
bounds are made of. An `if` of which that is not so is looked at as one statement: it is done where it was done, and reads as it did. A loop that is printed as a scan is one before
the rewrite too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from atoll.check.rewrites.language import changed, loads, names, parts
from atoll.check.rewrites.leaves import No, Node, whole

LOOPS = ("for", "accumulate", "chunks")


def decided_before(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """The statements, with those in one that change what decides over them."""
    out = []
    for n in body:
        if n.stmt[0] in (*LOOPS, "if"):
            variables: set[str] = set()
            arrays: set[str] = set()
            for e in parts(n.stmt):
                variables |= names(e)
                arrays |= {x[1] for x in loads(e)}
            if any(_writes_and_goes_on(inner, variables, arrays, n.stmt[0] in LOOPS) for inner in n.bodies):
                if n.stmt[0] in LOOPS or may_leave((n,)):
                    raise No("what decides is changed inside")
                n = Node(("forever", ()), ((n,),), n.origin)  # a statement that nobody looks into: what it is called does not matter
            else:
                n = replace(n, bodies=tuple(map(decided_before, n.bodies)))
        out.append(n)
    return tuple(out)


def may_leave(body: tuple[Node, ...]) -> bool:
    """A loop around these may be left in them."""
    return any(n.stmt[0] == "break" or (n.stmt[0] != "forever" and any(map(may_leave, n.bodies))) for n in body)


def _writes_and_goes_on(body: tuple[Node, ...], variables: set[str], arrays: set[str], again: bool) -> bool:
    """Something is done after a write of these, `again`: also a write that is the last thing done, because all of it is done again."""
    for k, n in enumerate(body):
        assigned, written = changed((whole(n),))
        if not (assigned & variables or written & arrays):
            continue
        last = k == len(body) - 1
        if again or not last or (n.bodies and n.stmt[0] != "if"):
            return True
        if any(_writes_and_goes_on(inner, variables, arrays, False) for inner in n.bodies):
            return True
    return False


def no_other_scans(before: tuple[Node, ...], after: tuple[Node, ...]) -> None:
    known = list(_scans(before))
    if any(s not in known for s in _scans(after)):
        raise No("a loop that is made a scan")


def _scans(body: tuple[Node, ...]) -> Iterator[tuple[object, ...]]:
    for n in body:
        if n.stmt[0] == "for" and n.stmt[5][3]:
            yield whole(n)
        for inner in n.bodies:
            yield from _scans(inner)
