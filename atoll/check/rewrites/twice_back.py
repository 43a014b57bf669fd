"""What is computed or tested again though nothing of it has changed, once: in the program before the rewrite that leaves it out.

    let x = e;  ...;  let y = e;  ... y ...        is        let x = e;  ...;  ... x ...
    check t;  ...;  check t                        is        check t;  ...

where nothing in between changes a variable or an array that e or t reads (in a loop: nothing anywhere in it), x and y are never assigned, and y is of the type of x. The second is in the list of the
first or deeper, so the first is done before it. Which are left out the program after says, by the origins of its statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.checks_back import renamed
from atoll.check.rewrites.language import changed, loads, names, read
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.storage import every

LOOPS = ("for", "accumulate", "chunks", "forever")
RENAMED = ("let", "declare", "assign", "add", "store", "update", "check", "if", "for", "accumulate")  # statements that `renamed` reads all of
Known = dict[Any, tuple[str, frozenset[str], frozenset[str]]]  # a value or a test: its name, the variables and arrays it is made of


def said_once(before: tuple[Node, ...], after: tuple[Node, ...]) -> tuple[Node, ...]:
    """The program before, without what the program after leaves out and was there already."""
    kept = {n.origin[0] for n in every(after) if n.origin is not None}
    gone = [n for n in every(before) if n.stmt[0] in ("let", "check") and n.origin is not None and n.origin[0] not in kept]
    if not gone:
        return before
    return tuple(_Once(before, {id(n) for n in gone}).list(before, {}))


class _Once:
    def __init__(self, before: tuple[Node, ...], gone: set[int]) -> None:
        self.gone = gone
        body = tuple(map(whole, before))
        self.assigned = changed(body)[0]
        self.named = {v for n in every(before) if n.stmt[0] not in RENAMED for v in read((n.stmt,))[0]}  # where a name is not replaced
        self.names: dict[str, str] = {}

    def list(self, body: tuple[Node, ...], known: Known) -> Iterator[Node]:
        for n in body:
            s = self.now(n)
            if s[0] == "let" and s[1] not in self.assigned:
                key: Any = (s[2], s[3])
                first = known.get(key)
                if first is not None and id(n) in self.gone and s[1] not in self.named:
                    self.names[s[1]] = first[0]
                    continue
                known.setdefault(key, (s[1], *_made_of(s[3])))
            elif s[0] == "check":
                if id(n) in self.gone and s[1] in known:
                    continue
                known.setdefault(s[1], ("", *_made_of(("truth", s[1]))))
            variables, arrays = changed((whole(n),))
            if s[0] in LOOPS:
                _forget(known, variables, arrays)  # a later round sees what an earlier one did
            made = renamed(replace(n, bodies=()), self.names)
            yield replace(made, bodies=tuple(tuple(self.list(b, dict(known))) for b in n.bodies))
            _forget(known, variables, arrays)

    def now(self, n: Node) -> Any:
        return renamed(replace(n, bodies=()), self.names).stmt


def _made_of(e: Any) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(names(e)), frozenset(x[1] for x in loads(e))


def _forget(known: Known, variables: set[str], arrays: set[str]) -> None:
    for key in [key for key, (_, used, looked) in known.items() if used & variables or looked & arrays]:
        del known[key]


__all__ = ["said_once"]
