"""Schedules as a user would write them: functions from schedules to schedules, for `s.apply(...)`.

    s.apply(tile2d, ("y", "x"), (64, 64), stage="bx", vector=16)
    s.apply(separate_tails, "y", "x")
    s.apply(sliding_window, "bx", "y", strip=32)
    s.apply(register_tile, "i", "j", "p", left="a", right="b")
    s.apply(im2col, "x")
"""

from __future__ import annotations

from atoll.schedule import term as tm
from atoll.schedule.api import Schedule
from atoll.schedule.kernel import Refused
from atoll.schedule.loop_steps import cut_points
from atoll.schedule.value_steps import Panels
from atoll.schedule.work import Work
from atoll.sizes import PolyLike


def _guard_free(s: Schedule, base: str, around: str) -> str:
    """The part of a partitioned loop with the most rounds (for large sizes), and of those the one with the fewest guards."""
    prefix = f"{around}/" if around else ""
    best: tuple[tuple[int, int], str] | None = None
    for selector in (f"{prefix}{base}_{k}" for k in range(9)):
        work = s._work.copy("separate_tails")
        try:
            t = work.at_loop(work.loop(selector))
        except Refused:  # a part that is not there
            continue
        guards = sum(isinstance(u, (tm.Guard, tm.Choose)) for _, u in tm.walk(t))
        rounds = (t.high - t.low).evaluate(lambda _: 10**6)
        if best is None or (-rounds, guards) < best[0]:
            best = ((-rounds, guards), selector)
    return f"{prefix}{base}" if best is None else best[1]


def separate_tails(s: Schedule, *loops: str) -> Schedule:
    """Cut loops, outermost first, where guards change, each inside the guard-free part of the one before."""
    around = ""
    for name in loops:
        selector = f"{around}/{name}" if around else name
        work = s._work.copy("separate_tails")
        if not cut_points(work, work.loop(selector)):
            around = selector
            continue
        s = s.partition(selector)
        around = _guard_free(s, name, around)
    return s


def tile2d(
    s: Schedule,
    loops: tuple[str, str],
    sizes: tuple[PolyLike, PolyLike],
    stage: str | None = None,
    vector: int | None = None,
    parallel: bool = True,
) -> Schedule:
    """Tile two loops of a stencil: borders apart, the interior in tiles, a producer computed tile by tile."""
    y, x = loops
    work = s._work.copy("tile2d")
    producer = None if stage is None else stage
    points = {}
    for name in loops:
        points[name] = _border(s, name, producer)
    inner = [y, x]
    if points[y]:
        s = s.partition(y, points[y])
        inner[0] = f"{y}_1"
    if points[x]:
        s = s.partition(f"{inner[0]}/{x}", points[x])
        inner[1] = f"{x}_1"
    del work
    s = s.tile((inner[0], f"{inner[0]}/{inner[1]}"), sizes)
    s = s.simplify()
    outer = f"{inner[0]}_o/{inner[1]}_o"
    if stage is not None:
        s = s.stage(stage, at=outer, name=f"{stage}_tile")
        if any(isinstance(t, tm.Let) and t.name.name == stage for _, t in tm.walk(s.program)):
            s = s.inline(stage)
    if vector is not None:
        s = s.vectorize(f"{inner[0]}_o/{inner[1]}_i", vector)
    return s.parallel(f"{inner[0]}_o") if parallel else s


def _border(s: Schedule, loop: str, stage: str | None) -> list[PolyLike] | None:
    """Where guards change along a loop once the producer is inlined: the first and the last such point."""
    trial = s if stage is None else s.inline(stage)
    work = trial._work.copy("tile2d")
    sym = work.loop(loop)
    t = work.at_loop(sym)
    context = work.context(work.path(sym))
    found = [p for p in cut_points(work, sym) if not context.facts.proves(t.low - p) and not context.facts.proves(p - t.high)]
    if not found:
        return None
    large = {leaf: 10**6 for p in found for leaf in p.leaves()}
    ordered = sorted(found, key=lambda p: p.evaluate(large))
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else [ordered[0]]


def sliding_window(s: Schedule, value: str, loop: str, strip: PolyLike | None = None, parallel: bool = True) -> Schedule:
    """Compute a producer row by row just ahead of the loop that reads it, keeping only the rows still needed; in strips of rows, so
    that strips can run in parallel (each strip computes its first rows itself)."""
    if strip is None:
        return s.roll(value, loop)
    s = s.split(loop, strip, tail="guard").stage(value, at=f"{loop}_o").roll(f"{loop}_o/{value}", f"{loop}_o/{loop}_i")
    return s.parallel(f"{loop}_o") if parallel else s


def register_tile(
    s: Schedule,
    rows: str,
    columns: str,
    total: str,
    left: str,
    right: str,
    tile: tuple[int, int] = (6, 64),
    vector: int = 16,
    fma: bool = True,
    parallel: bool = True,
) -> Schedule:
    """A matrix product: both factors packed into panels (padded with zeros), a tile of the result in registers, written back once."""
    r, c = tile
    s = s.split(rows, r, tail="guard").split(columns, c, tail="guard")
    s = s.reorder(f"{columns}_o", f"{rows}_o", f"{rows}_i", f"{columns}_i")
    s = s.stage(right, at=f"{columns}_o", name=f"{right}_panel").stage(left, name=f"{left}_panels", layout=Panels(0, r))
    s = s.accumulate_in_register(total, over=(f"{rows}_i", f"{columns}_i"))
    if fma:
        s = s.rewrite("contract", at=total)
    s = s.vectorize(f"acc.{columns}_i", vector).vectorize(f"{right}_panel.1", vector)
    s = s.partition(f"{columns}_o")
    if parallel:
        s = s.parallel(f"{columns}_o_0").parallel(f"{left}_panels.0")
    return s


def im2col(s: Schedule, value: str, name: str | None = None) -> Schedule:
    """Write out every element of a value that a nest reads, in the order it reads them: one array with an axis per loop."""

    def recipe(w: Work) -> None:
        x = w.value(value)
        uses = w.uses(x)
        if len(uses) != 1:
            raise Refused(f"{x} is read at {len(uses)} places, not one")
        path = uses[0]
        w.do(path[:-1], "let_bind", name=name or f"{x.name}_columns", part=(path[-1],))
        let = tm.at(w.term, path[:-1])
        assert isinstance(let, tm.Let)
        new = let.name
        for _ in range(200):
            here = w.path(new)
            if not here:
                return
            around = tm.at(w.term, here[:-1])
            match around:
                case tm.Gen() | tm.Sum():
                    w.do(here[:-1], "let_lift")
                case tm.Guard():
                    w.do(here[:-1], "guard_in", bound=True)
                case tm.Many() | tm.Nest():
                    return
                case tm.Let() if here[-1] == 1:
                    return
                case _:
                    w.do(here[:-1], "let_out", kid=here[-1])

    return s._step(f"im2col({value!r})", recipe)
