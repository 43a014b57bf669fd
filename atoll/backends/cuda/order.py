"""Which accesses of threads to memory are in order, for the checked executor.

Two accesses of one element by different threads, not both reads and not both atomics of one operator, must be in order:

    same block         a barrier of the block is between them
    same warp          a barrier of the warp is
    different blocks   the first thread made a fence after its access, that fence reached an atomic (by the thread itself, or through a barrier by another of
                       its block), and the second thread (or one of its block, before a barrier) made an atomic on the same element after that;
                       a tell is a fence and an atomic, an await an atomic; threads of a warp know after its barrier what each of them knew

So there are clocks: of barriers in each block, of barriers in each warp, and a count of all accesses by which fences are compared with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.loops.execute import Stuck

Place = tuple[Any, int]  # which memory, which element
Seen = dict[int, tuple[int, ...]]  # of each block, up to which access of each thread


@dataclass(slots=True)
class Access:
    """One access: whose, and when by the three clocks."""

    block: Block
    thread: int
    barriers: int
    warp_barriers: int
    time: int
    how: str | None  # None reads, "" writes, else an atomic


class Accesses:
    """Everything a launch touched."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.time = 0
        self.last: dict[Place, tuple[Access | None, dict[tuple[int, int], Access]]] = {}  # the last write (or atomic), and the reads since
        self.published: dict[Place, Seen] = {}  # what atomics on an element made known


class Block:
    """The clocks of one block."""

    def __init__(self, number: int, threads: int, all_: Accesses) -> None:
        self.number, self.all = number, all_
        self.barriers = 0
        self.warps = [0] * ((threads + 31) // 32)
        self.fenced = [-1] * threads  # up to which access a thread made a fence
        self.known = tuple(self.fenced)  # the same at the last barrier, known to all threads of the block
        self.seen_by: list[Seen] = [{} for _ in range(threads)]  # of other blocks, by each thread's atomics
        self.seen: Seen = {}  # by anybody's before the last barrier

    def barrier(self) -> None:
        self.barriers += 1
        self.known = tuple(self.fenced)
        for seen in self.seen_by:
            _learn(self.seen, seen)

    def warp_barrier(self, warp: int) -> None:
        self.warps[warp] += 1
        lanes = self.seen_by[32 * warp : 32 * warp + 32]
        if any(lanes):
            together: Seen = {}
            for seen in lanes:
                _learn(together, seen)
            for seen in lanes:
                _learn(seen, together)

    def fence(self, thread: int) -> None:
        self.fenced[thread] = self.all.time

    def touch(self, thread: int, memory: Any, element: int, how: str | None) -> None:
        """Look at an access, and write it down."""
        all_, place = self.all, (memory, element)
        all_.time += 1
        mine = Access(self, thread, self.barriers, self.warps[thread // 32], all_.time, how)
        write, reads = all_.last.setdefault(place, (None, {}))
        for other in [write, *(reads.values() if how is not None else ())]:
            if other is not None and not (how and how == other.how) and not self.after(mine, other):
                raise Stuck(
                    f"{all_.kernel}: a race on {memory[0]}[{element}]: thread {other.thread} of block {other.block.number} {_words(other.how)}, "
                    f"thread {thread} of block {self.number} {_words(how)}, and nothing is between them"
                )
        if how is None:
            reads[self.number, thread] = mine
            return
        all_.last[place] = (mine, {})
        if how:
            published = all_.published.setdefault(place, {})
            _learn(self.seen_by[thread], published)
            reach = list(self.known)
            reach[thread] = self.fenced[thread]
            _learn(published, {self.number: tuple(reach)})
            _learn(published, self.seen)
            _learn(published, self.seen_by[thread])

    def after(self, mine: Access, other: Access) -> bool:
        """Whether an access of this block is in order after another."""
        if other.block is self:
            same_warp = mine.thread // 32 == other.thread // 32
            return mine.thread == other.thread or mine.barriers > other.barriers or (same_warp and mine.warp_barriers > other.warp_barriers)
        for seen in (self.seen_by[mine.thread], self.seen):
            reach = seen.get(other.block.number)
            if reach is not None and reach[other.thread] >= other.time:
                return True
        return False


def _learn(into: Seen, what: Seen) -> None:
    for block, reach in what.items():
        have = into.get(block)
        into[block] = reach if have is None else tuple(map(max, have, reach))


def _words(how: str | None) -> str:
    return "reads it" if how is None else f"makes an atomic {how}" if how else "writes it"
