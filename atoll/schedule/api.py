"""`at.schedule(f)`: a schedule is a theorem `f == s.program` and the steps that made it.

A schedule is a value: every primitive returns a new one and leaves the old. Steps are recorded with what they cost in floating point;
`print(s)` shows the program after the last one. What a step may do and needs is in docs/schedules.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll.errors import Error, fail
from atoll.errors.caller import caller
from atoll.errors.plain import all_plain, calling, plain
from atoll.schedule import from_ainf, loop_steps, named_ainf, show, value_steps
from atoll.schedule import term as tm
from atoll.schedule.compiled import Compiled
from atoll.schedule.equations import EQUATIONS
from atoll.schedule.formulas import conditions
from atoll.schedule.kernel import RULES, Forbidden, Misused, Refused, Theorem, signature, start
from atoll.schedule.names import binders, find, listing, matches
from atoll.schedule.online import online
from atoll.schedule.pads import show_pads
from atoll.schedule.work import Work
from atoll.sizes import PolyLike, Sym

if TYPE_CHECKING:
    from atoll.check.certificate import Certificate
    from atoll.schedule.compiled import Compiled
    from atoll.schedule.to_loops import Lowered


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a schedule: what was asked, how many rules it took, what it does to floating-point results."""

    text: str
    rules: int
    licences: frozenset[str]

    def __str__(self) -> str:
        cost = f"  ({', '.join(sorted(self.licences))})" if self.licences else ""
        return f"{self.text}{cost}"

    def __repr__(self) -> str:
        return str(self)


LARGEST = 2**46


@all_plain
class Schedule:
    """f == s.program, step by step. See `at.schedule`."""

    def __init__(self, function: Any, source: from_ainf.Source, work: Work, steps: tuple[Step, ...], before: Schedule | None) -> None:
        self.function, self.source = function, source
        self._work, self.steps, self._before = work, steps, before
        self._lowered: Any = None

    # -- looking

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def program(self) -> tm.Term:
        """The program after the last step, as a term."""
        return self._work.theorem.term

    @property
    def theorem(self) -> Theorem:
        return self._work.theorem

    def __str__(self) -> str:
        facts = self.theorem.facts[len(self._work.base.facts) :] if self._work.base is not None else ()
        head = [f"{self.name}({', '.join(f'{x}: {x.dtype}{list(n) if n else str()}' for x, n in self.theorem.inputs.items())})"]
        if facts:
            head.append(f"  where {show.conditions(facts)}, otherwise as before the first step that needs it:")
        return "\n".join([*head, show.show(self.program, self._marks(), 1)])

    def __repr__(self) -> str:
        return f"<schedule of {self.name}, {len(self.steps)} steps>"

    def _repr_html_(self) -> str:
        from atoll.pages import schedule as page

        return page(self)

    def _marks(self) -> dict[object, str]:
        notes = self._work.notes
        marks: dict[object, list[str]] = {}
        for sym in notes.parallel:
            marks.setdefault(sym, []).append("parallel")
        for sym, width in notes.vector.items():
            marks.setdefault(sym, []).append(f"vector of {width}")
        for sym in notes.unroll:
            marks.setdefault(sym, []).append("unrolled")
        for x in notes.register:
            marks.setdefault(x, []).append("in registers")
        return {x: ", ".join(texts) for x, texts in marks.items()}

    @property
    def licences(self) -> frozenset[str]:
        """What the steps so far may change in floating-point results; empty: nothing, bit for bit."""
        return self.theorem.licences

    def loops(self) -> list[str]:
        """The names of the loops, each as short as it can be."""
        return listing([(p, t, names) for p, t, names in binders(self.program) if isinstance(t, (tm.Gen, tm.Sum))])

    def operators(self) -> dict[str, int]:
        """How many loops that build and how many reshapes of each kind the program has: gen, concat, trunc, transpose, ..."""
        found: dict[str, int] = {}
        for _, t in tm.walk(self.program):
            kind = "gen" if isinstance(t, tm.Gen) else "concat" if isinstance(t, tm.Cat) else ""
            kind = t.op.split("_")[0] if isinstance(t, tm.Reshape) else kind
            if kind:
                found[kind] = found.get(kind, 0) + 1
        return found

    def undo(self, steps: int = 1) -> Schedule:
        """The schedule some steps ago."""
        if not isinstance(steps, int) or not 0 <= steps <= len(self.steps):
            fail("E0507", caller("undo"), step="undo", problem=f"{steps!r} of {len(self.steps)} steps cannot be taken back")
        found = self
        for _ in range(steps):
            assert found._before is not None
            found = found._before
        return found

    # -- steps

    def _step(self, text: str, action: Callable[[Work], object]) -> Schedule:
        work = self._work.copy(text)
        done = len(work.theorem.steps)
        try:
            action(work)
        except Refused as refused:
            raise refused.error(text, caller(text.split("(")[0])) from None
        except Forbidden:
            fail("E0504", caller(text.split("(")[0]), step=text, name=self.name)
        number = tm.largest_literal(work.theorem.term)
        if number >= LARGEST:  # times a size it would be no number of the machine
            problem = f"the loops would compute with {number}, and numbers of loops stay below 2**46"
            fail("E0507", caller(text.split("(")[0]), step=text, problem=problem)
        new = work.theorem.steps[done:]
        licences = frozenset().union(*(record.licences for record in new))
        made = Schedule(self.function, self.source, work, (*self.steps, Step(text, len(new), licences)), self)
        _ = made.lowered  # a step is taken when the program after it has loops: what was accepted compiles
        return made

    def split(self, loop: str, size: PolyLike, tail: str = "cut") -> Schedule:
        """A loop i as i_o over tiles and i_i inside one. tail: "cut" (a loop of its own, i_t), "guard" (padded), "perfect" (none)."""
        return self._step(f"split({loop!r}, {size}, tail={tail!r})", lambda w: loop_steps.split(w, loop, size, tail))

    def tile(self, loops: tuple[str, ...], sizes: tuple[PolyLike, ...], tail: str = "cut") -> Schedule:
        """Split several loops and bring the loops over tiles out: y_o, x_o, y_i, x_i."""
        return self._step(f"tile({loops}, {sizes}, tail={tail!r})", lambda w: loop_steps.tile(w, loops, sizes, tail))

    def reorder(self, *loops: str) -> Schedule:
        """Loops in this order, outermost first."""
        return self._step(f"reorder{loops}", lambda w: loop_steps.reorder(w, *loops))

    def fuse(self, outer: str, inner: str, name: str | None = None) -> Schedule:
        """Two loops inside each other as one, over the product of their ranges."""
        return self._step(f"fuse({outer!r}, {inner!r})", lambda w: loop_steps.fuse(w, outer, inner, name))

    def flatten(self, *loops: str) -> Schedule:
        """Several loops inside each other as one, which keeps the first one's name."""
        return self._step(f"flatten{loops}", lambda w: loop_steps.flatten(w, *loops))

    def fission(self, loop: str, keep: str = "left") -> Schedule:
        """A loop over several parts as one loop per part."""
        return self._step(f"fission({loop!r})", lambda w: loop_steps.fission(w, loop, keep))

    def partition(self, loop: str, points: list[PolyLike] | None = None) -> Schedule:
        """Cut a range (into i_0, i_1, ...) at points, by default where guards inside start or stop to hold, so that they vanish."""
        shown = "" if points is None else f", {points}"
        return self._step(f"partition({loop!r}{shown})", lambda w: loop_steps.partition(w, loop, points))

    def pad(self, loop: str, multiple: PolyLike) -> Schedule:
        """A range rounded up to a multiple; the added rounds do nothing."""
        return self._step(f"pad({loop!r}, {multiple})", lambda w: loop_steps.pad(w, loop, multiple))

    def stage(
        self,
        value: str,
        at: str | None = None,
        name: str | None = None,
        layout: value_steps.Layout | None = None,
        elsewhere: str = "stage",
    ) -> Schedule:
        """Keep the part of a value that a loop reads, computed once per round of it; at=None: once, before everything. What is read beside
        that loop is staged there too, inlined, or read from the whole value as before: elsewhere="stage", "inline", "keep"."""
        shown = "" if at is None else f", at={at!r}"
        shown += "" if elsewhere == "stage" else f", elsewhere={elsewhere!r}"
        return self._step(f"stage({value!r}{shown})", lambda w: value_steps.stage(w, value, at, name, layout, elsewhere))

    def inline(self, value: str, at: str | None = None) -> Schedule:
        """Compute a value where it is read, everywhere or only inside one loop."""
        return self._step(f"inline({value!r})", lambda w: value_steps.inline(w, value, at))

    def interchange_sum(self, loop: str, outside: str) -> Schedule:
        """Move a sum outside another loop."""
        return self._step(f"interchange_sum({loop!r}, {outside!r})", lambda w: loop_steps.interchange_sum(w, loop, outside))

    def reassociate(self, loop: str, lanes: int, name: str | None = None) -> Schedule:
        """A sum as `lanes` interleaved partial sums, which are then added up."""
        return self._step(f"reassociate({loop!r}, {lanes})", lambda w: loop_steps.reassociate(w, loop, lanes, name))

    def online(self, maximum: str, size: PolyLike, at: str | None = None) -> Schedule:
        """Sums of exp(... - maximum) in one pass over blocks, each with a maximum and sums of its own (softmax, logsumexp, attention); `at`: the loop over rows."""
        shown = "" if at is None else f", at={at!r}"
        return self._step(f"online({maximum!r}, {size}{shown})", lambda w: online(w, maximum, size, at))

    def accumulate_in_register(self, loop: str, over: tuple[str, ...] = (), name: str = "acc") -> Schedule:
        """Add a sum up in registers, a tile of them over the loops `over`, and write it back once."""
        return self._step(
            f"accumulate_in_register({loop!r}, over={over})", lambda w: value_steps.accumulate_in_register(w, loop, over, name)
        )

    def roll(self, value: str, at: str) -> Schedule:
        """Compute a value row by row as a loop advances and keep only the rows still read."""
        return self._step(f"roll({value!r}, {at!r})", lambda w: value_steps.roll(w, value, at))

    def simplify(self) -> Schedule:
        return self._step("simplify()", lambda w: w.simplify())

    def assume(self, condition: str) -> Schedule:
        """What follows holds for sizes such as these (`"n >= 2 and m >= 2"`); the program tests it and runs as before for others."""
        return self._step(f"assume({condition!r})", lambda w: w.assume(*conditions(condition, w.size_names())))

    def rewrite(self, rule: str, at: str | tm.Path = (), **args: Any) -> Schedule:
        """Any single rule of the kernel, or any of ATL's equations, at a loop or value (or a position) and at the first place below
        it where the rule applies."""
        if rule not in RULES and rule not in EQUATIONS:
            known = ", ".join(sorted(RULES))
            fail("E0507", caller("rewrite"), step=f"rewrite({rule!r})", problem=f"there is no rule {rule!r}; rules are {known}, and ATL's equations")
        shown = "".join(f", {k}={v}" for k, v in args.items())
        text = f"rewrite({rule!r}, at={at!r}{shown})"
        own = {("at_" if name == "at" else name): needed for name, needed in signature(rule).items()} if rule in RULES else {}
        takes = own if rule in RULES else EQUATIONS[rule].takes

        def rewrite(w: Work) -> None:
            if rule in RULES:
                _rewrite(w, rule, _root(w, at), {("at" if name == "at_" else name): x for name, x in args.items()})
            else:
                EQUATIONS[rule].apply(w, _root(w, at), **args)

        def checked(w: Work) -> None:
            needed = [name for name, required in takes.items() if required]
            if any(name not in takes for name in args) or any(name not in args for name in needed):
                raise Misused(f"{rule} takes {', '.join(n if r else f'{n} (if wanted)' for n, r in takes.items()) or 'no arguments'}")
            try:
                rewrite(w)
            except (TypeError, AttributeError, IndexError, ValueError) as problem:
                if isinstance(problem, Error):
                    raise
                raise Misused(f"the arguments do not fit: {problem}") from None

        return self._step(text, checked)

    @calling
    def apply(self, recipe: Callable[..., Schedule], *args: Any, **keywords: Any) -> Schedule:
        """A schedule written as a function from schedules to schedules."""
        if not callable(recipe):
            fail("E0507", caller("apply"), step="apply", problem=f"{recipe!r} is not a function from schedules to schedules")
        made = recipe(self, *args, **keywords)
        if not isinstance(made, Schedule):
            fail("E0507", caller("apply"), step="apply", problem=f"{getattr(recipe, '__name__', recipe)} gives {made!r}, not a schedule")
        return made

    # -- what is asked of loops

    def vectorize(self, loop: str, width: int) -> Schedule:
        """Run `width` rounds of a loop at a time."""

        def mark(w: Work) -> None:
            sym = _independent(w, loop)
            if not isinstance(width, int) or width < 2:
                raise Misused(f"{width!r} is no width")
            inside = [t.sym for _, t in tm.walk(w.at_loop(sym).body) if isinstance(t, tm.Gen) and t.sym in w.notes.parallel]
            if inside:
                raise Refused(f"{inside[0]} inside it runs on several threads")
            w.notes.vector[sym] = width

        return self._step(f"vectorize({loop!r}, {width})", mark)

    def parallel(self, loop: str) -> Schedule:
        """Run rounds of a loop on several threads."""

        def mark(w: Work) -> None:
            sym = _independent(w, loop)
            path = w.path(sym)
            for n in range(len(path)):
                around = tm.at(w.term, path[:n])
                if isinstance(around, tm.Gen) and around.sym in w.notes.parallel:
                    raise Refused(f"{around.sym} around it is parallel already")
                if isinstance(around, tm.Gen) and around.sym in w.notes.vector:
                    raise Refused(f"{around.sym} around it runs as a vector")
            w.notes.parallel.add(sym)

        return self._step(f"parallel({loop!r})", mark)

    def unroll(self, loop: str) -> Schedule:
        """Repeat the body of a loop of literal size instead of looping."""

        def mark(w: Work) -> None:
            sym = w.loop(loop)
            t = w.at_loop(sym)
            n = w.context(w.path(sym)).facts.simplify(t.high - t.low)
            if n.const() is None:
                raise Refused(f"{sym} has {n} rounds, not a number of them")
            w.notes.unroll.add(sym)

        return self._step(f"unroll({loop!r})", mark)

    # -- results

    @property
    def lowered(self) -> Lowered:
        """The checked loops: what `compile` prints as C."""
        if self._lowered is None:
            from atoll.check.obligations import check

            self._lowered = check(self)
        return self._lowered  # type: ignore[no-any-return]

    def compile(self, optimise: str = "3") -> Compiled:
        """The scheduled program as native code. Its loops have been checked."""
        return Compiled(self, optimise)

    def compile_text(self) -> str:
        """The C of the checked loops."""
        from atoll.backends.c.jit import generate

        return generate(self.function.core, self.lowered.function).text

    def certificate(self, trusted: bool = False) -> Certificate:
        """The proof of everything: steps, loops, obligations. `.save(path)`; `atoll prove path` checks it."""
        from atoll.check.certificate import make_certificate

        return make_certificate(self, trusted)

    def assumptions(self) -> str:
        """What is taken on trust."""
        from atoll.check.assumptions import assumptions

        return assumptions(self)

    def pads(self) -> str:
        """The pad types of the program: what is known to be padding, axis by axis."""
        return show_pads(self.theorem)


def _root(w: Work, at: str | tm.Path) -> tm.Path:
    if not isinstance(at, str):
        path = tuple(at)
        tm.at(w.term, path)
        return path

    loops = [t for _, t, names in binders(w.term) if isinstance(t, (tm.Gen, tm.Sum)) and matches(names, at.split("/"))]
    return find(w.term, at, loops=bool(loops))[0]


def _rewrite(w: Work, rule: str, root: tm.Path, args: dict[str, Any]) -> None:
    first: Refused | None = None
    for path, _ in tm.walk(tm.at(w.term, root), root):
        try:
            w.do(path, rule, **{name: _argument(w, rule, name, x, path) for name, x in args.items()})
            return
        except Refused as refused:
            if first is None or (first.goal is None and refused.goal is not None):
                first = refused
    assert first is not None
    raise first


_POLYS = ("at", "amount", "by", "low", "high", "count", "size", "lead")


def _argument(w: Work, rule: str, name: str, x: Any, path: tm.Path) -> Any:
    """An argument of a rule: sizes and formulas as polynomials, names of values as values."""
    if name in _POLYS:
        return w.size(x, path)
    if name == "x" and isinstance(x, str):
        return w.value(x)
    if name in ("index", "dims", "read") and isinstance(x, (tuple, list)):
        return tuple(w.size(p, path) for p in x)
    return x


def _independent(w: Work, loop: str) -> Sym:
    sym = w.loop(loop)
    if isinstance(w.at_loop(sym), tm.Sum):
        raise Refused(f"{sym} is a sum: its rounds add to the same place")
    path = w.path(sym)
    around = tm.at(w.term, path[:-1]) if path else None
    if isinstance(around, tm.Let) and around.rolled is not None and path[-1] == 1:
        raise Refused(f"{around.name} is computed as {sym} advances, so its rounds run in order")
    return sym


@plain
def schedule(function: Any) -> Schedule:
    """A schedule of an Atoll function, without any step yet: the theorem that the function is itself.

    >>> import atoll as at
    >>> n = at.sizes("n")
    >>> @at.fn
    ... def double(x: at.f32[n]) -> at.f32[n]:
    ...     return [2 * x[i] for i in range(n)]
    >>> print(at.schedule(double).split("i", 8))  # doctest: +SKIP
    """
    core = getattr(function, "core", None)
    if core is None:
        shown = getattr(function, "__name__", None) or repr(function)
        fail("E0506", caller(), name=shown, problem="it is not an Atoll function; decorate it with @at.fn")
    if core.portable:
        fail("E0506", caller(), name=core.name, problem='bits="portable" says how its sums are cut and its functions computed, and the rules of schedules know neither; schedule it without')
    try:
        source = from_ainf.translate(named_ainf.translate(core, named_ainf.names_written(function)))
        forbidden = frozenset() if source.reassociate else frozenset(("reassociate", "contract", "finite", "rescale"))
        theorem = start(source.name, source.term, source.facts, source.inputs, forbidden, frozenset(source.params.values()))
    except from_ainf.Inexpressible as problem:
        fail("E0506", caller(), name=core.name, problem=str(problem))
    except Refused as refused:
        fail("E0506", caller(), name=core.name, problem=refused.problem)
    return Schedule(function, source, Work(theorem), (), None)
