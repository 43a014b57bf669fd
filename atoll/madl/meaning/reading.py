"""What is kept while a program is read: rounds, names, the state of before, and what waits for something to be known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from atoll.madl import syntax as s
from atoll.madl.library import Library
from atoll.madl.meaning.scalars import Scalars
from atoll.madl.meaning.wires import Length, NotYet, Shape, Store, Value

Task = Iterator[None]


@dataclass(eq=False)
class Round:
    """One run of a scope's body. `scope` is the way to it in the text, `before` the run before it, `owner` the scope that starts its state."""

    scope: tuple[Any, ...]
    parent: Round | None
    before: Round | None
    owner: tuple[Any, ...]
    variables: dict[Any, Value] = field(default_factory=dict)

    def chain(self) -> Iterator[Round]:
        here: Round | None = self
        while here is not None:
            yield here
            here = here.parent


@dataclass(eq=False)
class Names:
    """The names in sight."""

    round: Round
    parent: Names | None = None
    variables: dict[str, Value] = field(default_factory=dict)
    sizes: dict[str, Length] = field(default_factory=dict)
    types: dict[str, Shape] = field(default_factory=dict)
    root: bool = False

    def find(self, kind: str, name: str) -> Any:
        here: Names | None = self
        while here is not None:
            known = getattr(here, kind)
            if name in known:
                return known[name]
            here = here.parent
        return None

    def outermost(self) -> Names:
        here = self
        while not here.root and here.parent is not None:
            here = here.parent
        return here


@dataclass(eq=False)
class Interface:
    """The brackets of a forward: what is collected, what is the last, what is seen of it while it is built."""

    count: Length
    scope: tuple[Any, ...]
    restarts: bool
    collected: list[tuple[s.Expr, Value, bool]] = field(default_factory=list)
    final: list[tuple[s.Expr, Value]] = field(default_factory=list)
    built: list[tuple[s.Expr, s.Expr]] = field(default_factory=list)
    wholes: dict[int, Value] = field(default_factory=dict)  # of [x], by the node
    results: bool = False  # whether arrays are built, rather than taken apart
    so_far: Length | None = None  # while the part that is built is read: how many rounds there were


class Reading:
    """One operator being read, cycle after cycle."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.store = Store()
        self.scalars = Scalars(self.store)
        self.memory: dict[tuple[Any, ...], Round] = {}  # the last run of every scope
        self.outside: dict[tuple[Any, ...], Names] = {}  # the names around a scope
        self.made: dict[Any, s.Operator] = {}  # recursive operators at their sizes
        self.interface: Interface | None = None  # of the forward whose interface is being read
        self.new_cycle()

    def new_cycle(self) -> None:
        self.agenda: list[Task] = []
        self.lasts: list[Value] = []  # what the next cycle will ask for
        self.patterns: list[list[Task]] = []  # what rounds that say only shapes leave to do

    def run(self, agenda: list[Task]) -> bool:
        """Everything that can be done now; true when nothing is left."""
        outer, self.agenda = self.agenda, agenda
        try:
            while agenda:
                before, tasks = self.store.changes, list(agenda)
                agenda.clear()
                left = [task for task in tasks if next(task, self) is not self]
                for pattern in self.patterns:
                    self.run_pattern(pattern)
                more = len(left) < len(tasks) or self.store.changes != before or bool(agenda)
                agenda[:0] = left
                if not more:
                    return False
            return True
        finally:
            self.agenda = outer

    def run_pattern(self, agenda: list[Task]) -> None:
        """What can be done of it; the rest has no meaning, because no such round runs."""
        outer, self.agenda = self.agenda, agenda
        saved, self.patterns = self.patterns, []
        tasks, lasts = list(agenda), len(self.lasts)
        agenda.clear()
        agenda[:0] = [task for task in tasks if next(task, self) is not self]
        del self.lasts[lasts:]
        self.agenda = outer
        self.patterns = saved + self.patterns

    def when(self, action: Callable[[], None]) -> None:
        """Do it as soon as what it asks for is known; it asks before it changes anything."""
        self.agenda.append(_retry(action))

    def inside(self, read: Callable[[], None]) -> Task:
        """Read something and do all that it leaves to do, before what follows."""
        mine: list[Task] = []
        outer, self.agenda = self.agenda, mine
        saved, self.interface = self.interface, None
        try:
            read()
        finally:
            self.agenda, self.interface = outer, saved
        while not self.run(mine):
            yield

    def forget(self, scope: tuple[Any, ...]) -> None:
        """The state of a scope, and of all in it, starts anew."""
        for key in [k for k in self.memory if k[: len(scope)] == scope]:
            del self.memory[key]

    def enter(self, scope: tuple[Any, ...], owner: tuple[Any, ...], around: Round) -> Round:
        made = Round(scope, around, self.memory.get(scope), owner)
        self.memory[scope] = made
        return made


def _retry(action: Callable[[], Any]) -> Task:
    while True:
        try:
            action()
            return
        except NotYet:
            yield
