"""What a program means, without memory: an oracle that takes nothing from the compiler but the text it has read.

Every equation says that two values are one (wires.py). A cycle is read anew, with the lengths of its arguments known: shapes and scalar types are found by
equations on the way, so neither the compiler's types, nor its places, nor its order are believed. The two-sided semantics (oracle.py) asks whether places and order
are right for given types; this one asks what the program computes, and both must give the same.

    p = e                  the values of both sides are one; patterns are read as expressions are
    forward                the body is read once for each round; [x] is an array whose element of this round is x, {x} the x of the last round
    last e                 what the variables that e is made of were in the round before of their scope, or their first values
    e init c               c is the first value where the scope around that restarts is started
    if, match              one body is read, when the condition is known
    f(e)                   the body of f is read in a scope of its own

What is read but not known yet waits: `Reading.agenda` holds what is to be done, and it is done round by round, so that the rounds of a scope come in order.

`wires.py` has values and their equations, `reading.py` what is kept while a program is read; the rest is one file for each part of the syntax.
"""

from __future__ import annotations

from typing import Any

from atoll.madl.instances import Defined
from atoll.madl.library import Library
from atoll.madl.meaning import boundary, operators
from atoll.madl.meaning.reading import Reading, Round
from atoll.madl.meaning.wires import Wrong


class Meaning:
    """An instance of an operator: `step` is one cycle."""

    def __init__(self, library: Library, name: str, sizes: dict[str, int] | None = None) -> None:
        item = library.items[name]
        assert isinstance(item, Defined)
        self.operator, self.sizes = item.operator, sizes or {}
        self.reading = Reading(library)

    def step(self, *args: Any, like: list[Any] | None = None) -> list[Any]:
        """One cycle. `like` has the shapes of results, where nothing else says their sizes."""
        m = self.reading
        m.store.default = False
        m.new_cycle()
        top = Round((), None, m.memory.get(()), ())
        m.memory[()] = top
        given = [boundary.argument(m, arg) for arg in args]
        names, results = operators.operator(m, self.operator, top, given, None)
        for name, number in self.sizes.items():
            known = names.find("sizes", name)
            if known is not None:
                m.store.let(known, number)
        for value, arg in [*zip(given, args, strict=True), *zip(results, like or [], strict=False)]:
            m.agenda.append(boundary.lengths(m, value, arg))
        if not m.run(m.agenda):
            m.store.default = True  # what nothing says is an int or an f64
            if not m.run(m.agenda):
                raise Wrong(f"{self.operator.name}: {len(m.agenda)} equations wait for each other")
        m.store.default = True
        found = [boundary.python(m, value) for value in results]
        for value in m.lasts:  # so that the next cycle does not compute this one's past
            for path in m.store.cells(value):
                m.store.scalar(m.store.at(value, path))
        return found
