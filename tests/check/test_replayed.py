"""Steps of schedules by the checker that is proved in Coq (proofs/Replay.v): every rule of the kernel has a theorem and is replayed, what is changed is refused."""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f32
from atoll.check import verified
from atoll.check.blocks import LEAST
from atoll.check.prove import LICENCES, Checker, prove
from atoll.check.replayed import RULES, SAME, NotReplayed, Words, arguments, opaque, replay
from atoll.check.sums import Rejected
from atoll.check.terms import Term, kids, with_kids
from atoll.schedule import kernel
from atoll.schedule.simplify import _Simplifier
from tests.check.mutations import BLOCKS, certificates
from tests.check.test_forgeries import FORGERIES
from tests.conformance.test_schedules_programs import load

n, m = at.sizes("n m")
ROOT = Path(__file__).parents[2]
needs_it = pytest.mark.skipif(verified.program() is None, reason="make proofs builds the verified checker")


def theorems() -> dict[str, tuple[list[str], str]]:
    """The table of docs/trust.md: of every rule its theorems, and whether it is replayed."""
    text = (ROOT / "docs" / "trust.md").read_text().split("| rule | theorems | replayed |\n")[1].split("\n\n")[0]
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()[1:]]
    return {rule.strip("`"): (re.findall(r"`(\w+)`", names), replayed) for rule, names, replayed in rows}


def test_every_rule_has_its_theorems() -> None:
    """A rule of the kernel without a row here, or a row whose theorem is not there, is seen."""
    proved = set(re.findall(r"^ *Theorem (\w+)", "\n".join(p.read_text() for p in (ROOT / "proofs").glob("*.v")), re.M))
    table = theorems()
    assert set(table) == set(kernel.RULES) and set(kernel.RULES) == RULES
    for rule, (names, replayed) in table.items():
        assert names and set(names) <= proved, (rule, set(names) - proved)
        assert replayed == "yes", rule
        assert rule in SAME or f'"{rule}"' in (ROOT / "proofs" / "main.ml").read_text(), rule


class Careless(Checker):
    """Believes every rule, and notes all rows that hold at its position: what the other checker would let through if it looked at nothing."""

    def step(self, n: int, t: Term, facts: Any, path: list[int], rule: str, args: Any, new: int, licences: set[str]) -> Term:
        from atoll.check.replayed import Move

        env, u = self.env(facts), t
        for k in path:
            env, u = env.down(u, k), kids(u)[k]
        made = self.terms.term(new)
        noted = len(self.proofs.noted)
        for look in (lambda: self.rules.step(rule, env, u, args, made), lambda: self.same_shape(env, u, made)):
            with suppress(Rejected, KeyError, ValueError, TypeError, IndexError, AttributeError):
                look()
        words, rows = Words(self.proofs, self.data["sizes"], self.types, 0), []
        for known in (env.facts, env.closed):
            for k in range(len(self.proofs.rows)):
                if self.proofs.valid(k, known):
                    with suppress(KeyError):  # a row about loops of the lowered program
                        list(words.lemmas(Move(path, rule, {}, t, made, t, ((k, known.known),))))
                        rows.append((k, known.known))

        def put(v: Term, rest: list[int]) -> Term:
            return made if not rest else with_kids(v, tuple(put(x, rest[1:]) if j == rest[0] else x for j, x in enumerate(kids(v))))

        whole = put(t, path)
        self.moves.append(Move(path, rule, {k: self.rules.argument(v) for k, v in args.items()}, t, made, whole, tuple(dict.fromkeys([*self.proofs.noted[noted:], *rows]))))
        return whole


def says(checker: Any, data: Any) -> bool:
    """Whether a checker accepts the steps of a certificate."""
    try:
        made = checker(data)
        made.replay()
        if checker is Careless:
            replay(made, verified._asked)
        return True
    except (Rejected, NotReplayed, KeyError, IndexError, ValueError, TypeError, AttributeError):
        return False


def forged(data: Any, rng: random.Random) -> Any:
    """One or two things of the steps changed: what they make, where, by which rule, with which arguments."""
    made = copy.deepcopy(data)
    steps = [s for s in made["steps"] if s[1] not in ("start", "assume")]
    for _ in range(rng.choice([1, 1, 2])):
        s = rng.choice(steps)
        match rng.randrange(5):
            case 0:
                s[3] = rng.randrange(len(made["T"]))
            case 1:
                s[0] = s[0][:-1] if s[0] and rng.random() < 0.5 else [*s[0], rng.randrange(2)]
            case 2:
                s[1] = rng.choice(sorted(RULES))
            case 3:
                for name, v in s[2].items():
                    if isinstance(v, dict) and "p" in v:
                        s[2][name] = {"p": rng.randrange(len(made["P"]))}
            case 4:
                row = rng.choice(made["T"])
                numbers = [k for k, v in enumerate(row) if type(v) is int and row[0] in ("gen", "sum", "index")]
                if numbers:
                    row[rng.choice(numbers)] = rng.randrange(len(made["P"]))
    made["final"] = made["steps"][-1][3] if made["steps"][-1][0] == [] and made["steps"][-1][1] != "assume" else made["final"]
    return made


@needs_it
@pytest.mark.parametrize("number", [0, 1, 3, 6, 10, 11, 15])
def test_forged_steps(number: int) -> None:
    """What one checker refuses, the other refuses, though it sees them with every rule believed."""
    rng, count = random.Random(number), Counter[tuple[bool, bool]]()
    assert says(Careless, certificates()[number])
    for _ in range(8 if number else 4):
        data = forged(certificates()[number], rng)
        python, extracted = says(Checker, data), says(Careless, data)
        count[python, extracted] += 1
        assert not (extracted and not python), [s[1] for s in data["steps"]]
        assert extracted == python
    assert count[False, False] > 1


def test_a_law_needs_its_licence() -> None:
    """Laws of floats need their licence, those of integers need none; a law of another operation than the one it is true of is refused."""
    words = Words(Checker(certificates()[0]).proofs, (), {}, 0)
    words.kinds |= {"f32": 1, "i32": 2}
    words.operations |= {("mul", "f32", "f32", "f32"): 1, ("add", "f32", "f32", "f32"): 2, ("sub", "f32", "f32", "f32"): 3}
    words.operations |= {("div", "f32", "f32", "f32"): 4, ("exp", "f32", "f32"): 5, ("max", "f32", "f32", "f32"): 6, ("div", "i32", "i32", "i32"): 7, ("mul", "i32", "i32", "i32"): 8}
    words.constants |= {(repr({"f": LEAST["f32"].hex()}), "f32"): 1, (repr({"f": (0.0).hex()}), "f32"): 2}
    nothing: frozenset[str] = frozenset()
    for law, licence in {
        "anyorder add 1": "reassociate", "regroup mul 1": "reassociate", "unit add 1": "signed-zero", "nosign 1": "signed-zero", "distributes 1 1 true": "reassociate",
        "finite 1": "finite", "fused 1 1": "contract", "addzero 2 true": "signed-zero", "spreads 1 1": "reassociate", "spreads 4 1": "reassociate", "fades 1 1": "finite", "through 1 1 false": "reassociate",
        "through 4 1 true": "reassociate", "faded 1 1 5 3 6 1 6 1": "rescale", "faded 1 1 5 3 6 2 6 2": "finite", "most 1": "rescale", "rescales 5 3 1 6 1 1": "rescale",
    }.items():  # fmt: skip
        assert not words.granted(law, nothing) and words.granted(law, frozenset([licence])), law
    for law in ("anyorder add 2", "unit add 2", "unit maximum 1", "addzero 3 false", "zerozero 2", "outside", "commutes 1", "mostof 6 1", "most 2", "spreads 8 2", "through 8 8 true"):
        assert words.granted(law, nothing), law
    for law in ("finite 2", "distributes 2 1 true", "fused 2 1", "addzero 1 true", "addzero 3 true", "zerozero 1", "something 1", "spreads 2 1", "spreads 7 2", "spreads 1 2", "fades 4 1", "commutes 4",
                "through 1 4 false", "through 2 1 true", "through 7 7 true", "mostof 2 1", "rescales 5 2 1 6 1 1", "rescales 5 3 1 6 2 1", "faded 4 1 5 3 6 1 6 1"):  # fmt: skip
        assert not words.granted(law, frozenset(["reassociate", "signed-zero", "finite", "contract", "rescale"])), law
    assert not words.granted("faded 1 1 5 3 6 2 6 1", frozenset(["rescale"]))


@needs_it
def test_without_the_licence_it_is_refused() -> None:
    """The steps of a schedule that regroups a sum, with the licence taken away behind the other checker's back."""
    data = certificates()[1]
    assert data["licences"] == ["reassociate"]
    checker = Checker(copy.deepcopy(data))
    checker.run()
    checker.data["licences"] = []
    with pytest.raises(Rejected, match="no licence"):
        replay(checker, verified._asked)
    assert "every rule applied again" in prove(data, verified=True)


@needs_it
@pytest.mark.parametrize("forge", FORGERIES, ids=[f.__name__ for f in FORGERIES])
def test_forgeries(forge: Any) -> None:
    """Forged certificates: what the other checker says of their steps, the proved one says; the rest of them forge what is behind the steps."""
    data = forge()
    assert says(Careless, data) == says(Checker, data)


@at.fn
def sums_of_sums(a: f32[n, m], b: f32[n]) -> f32:
    return sum(sum(a[i, j] for j in range(m)) + (b[i] if i < 3 else 0.0) for i in range(n))


@at.fn
def less_nothing(a: f32[n, m], b: f32[n]) -> f32:
    return sum(sum(a[i, j] for j in range(m)) - (b[i] if i < 3 else 0.0) for i in range(n))


@pytest.mark.parametrize("f", [sums_of_sums, less_nothing])
def test_a_sum_in_place_of_its_value(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is added to an inner sum vanishes, the sum is not added to the outer one number by number: that is another order of additions (the proved checker found that the other one allowed it)."""
    s = at.schedule(f).partition("i")
    assert s.licences <= {"signed-zero"}
    rng, compiled, plain = np.random.default_rng(0), s.compile(), at.schedule(f).compile()
    for _ in range(20):
        a, b = rng.normal(size=(7, 5)).astype(np.float32), rng.normal(size=7).astype(np.float32)
        assert np.float32(compiled(a, b)).tobytes() == np.float32(plain(a, b)).tobytes()
    assert prove(s.certificate().data)
    monkeypatch.setattr(_Simplifier, "stands_for", lambda *_: True)
    with pytest.raises(Rejected, match="licences"):
        prove(at.schedule(f).partition("i").certificate().data)


@at.fn
def taken(x: f32[n], at_: at.i64[m]) -> f32[m]:
    return [2.0 * x[at_[i]] for i in range(m)]


@at.fn
def two_results(a: f32[n, m]) -> (f32[n], f32[n, m]):
    most = [sum(a[i, j] for j in range(m)) for i in range(n)]
    return most, [[a[i, j] - most[i] for j in range(m)] for i in range(n)]


@needs_it
@pytest.mark.parametrize("f", [taken, two_results])
def test_opaque_parts_and_several_results(f: Any) -> None:
    """What an opaque part makes is an argument of which nothing is known; every result is replayed."""
    s = at.schedule(f).split("i" if f is taken else "most/i", 4, tail="cut")
    asked = []

    def ask(words: Any) -> str:
        asked.append(" ".join(words))
        return verified._asked(iter(asked[-1].split()))

    checker = Checker(s.certificate().data)
    checker.run()
    assert replay(checker, ask) >= 2 and bool(opaque(checker.source)) == (f is taken)
    assert len(asked) == (1 if f is taken else 2) * len(checker.chains) and len(set(asked)) == len(asked)


@at.fn
def weighted(a: f32[n, m], b: f32[n], c: f32[n]) -> f32[n]:
    return [sum(c[i] * (a[i, j] * b[i]) / c[i] for j in range(m)) for i in range(n)]


def out_of_sum(part: tuple[int, ...], *facts: str) -> dict[str, Any]:
    s = at.schedule(weighted)
    for fact in facts:
        s = s.assume(fact)
    return s.rewrite("factor", at="j", part=part).certificate().data


@needs_it
@pytest.mark.parametrize(("part", "facts"), [((0, 0), ()), ((0, 1, 1), ()), ((1,), ("m >= 1",)), ((0, 1, 1), ("m >= 1",))])
def test_factors_out_of_sums(part: tuple[int, ...], facts: tuple[str, ...]) -> None:
    """A factor or a divisor at any place of a product: replayed, with the laws that it rests on; `finite` is none where the sum has terms."""
    data = out_of_sum(part, *facts)
    assert set(data["licences"]) == ({"reassociate"} if facts else {"reassociate", "finite"})
    assert "every rule applied again" in prove(copy.deepcopy(data), verified=True)
    for gone in data["licences"]:
        checker = Checker(copy.deepcopy(data))
        checker.run()
        checker.data["licences"] = sorted(set(data["licences"]) - {gone})
        with pytest.raises(Rejected, match="no licence"):
            replay(checker, verified._asked)


@needs_it
def test_factors_that_are_none() -> None:
    """Another place, one that changes from round to round, and another operation: refused by both."""
    for part in ((0, 1, 0), (0,), (1, 0), (0, 1), (0, 1, 1, 0), ()):
        data = out_of_sum((0, 1, 1))
        next(s for s in data["steps"] if s[1] == "factor")[2]["part"] = list(part)
        assert not says(Checker, data) and not says(Careless, data), part


TRIES = 24
BY_BLOCKS = ("rescale", "factor", "let_join")


def parts_of(x: Any, at_: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Any]]:
    """Everything inside of a term: terms, names, indices, numbers."""
    inner = [p for k, y in enumerate(x) for p in parts_of(y, (*at_, k))] if isinstance(x, tuple) else []
    return [(at_, x), *inner]


def with_part(x: Any, at_: tuple[int, ...], new: Any) -> Any:
    return new if not at_ else tuple(with_part(y, at_[1:], new) if k == at_[0] else y for k, y in enumerate(x))


def changed(t: Term, rng: random.Random) -> Term:
    """One thing in a term is another of the same kind, from elsewhere in it, or a number that is one more."""
    inside = [(p, x) for p, x in parts_of(t) if p]
    place, old = rng.choice(inside)
    if type(old) is int:
        return with_part(t, place, old + rng.choice([-1, 1]))
    return with_part(t, place, rng.choice([x for _, x in inside if type(x) is type(old) and x != old and (not isinstance(x, tuple) or (x[:1] and old[:1] and type(x[0]) is type(old[0])))] or [old]))


class Blocks:
    """A step of s.online, and what both checkers say of it when it makes something else, or is told something else."""

    def __init__(self, checker: Checker, facts: Any, move: Any) -> None:
        self.checker, self.facts, self.move = checker, facts, move
        self.env, self.part = checker.env(facts), move.before
        for k in move.path:
            self.env, self.part = self.env.down(self.part, k), kids(self.part)[k]

    def python(self, args: dict[str, Any], new: Term) -> bool:
        try:
            self.checker.rules.step(self.move.rule, self.env, self.part, args, new)
            self.checker.same_shape(self.env, self.part, new)
            return True
        except (Rejected, KeyError, ValueError, TypeError, IndexError, AttributeError):
            return False

    def extracted(self, args: dict[str, Any], new: Term) -> bool:
        def put(v: Term, rest: list[int]) -> Term:
            return new if not rest else with_kids(v, tuple(put(x, rest[1:]) if j == rest[0] else x for j, x in enumerate(kids(v))))

        types, shapes, promised, parts = arguments(self.checker)
        words = Words(self.checker.proofs, self.checker.data["sizes"], types, 0, parts)
        after = put(self.move.before, self.move.path)
        try:
            move = replace(self.move, args=args, new=new, after=after)
            _, *laws = verified._asked(words.all([*self.facts, *promised], shapes, self.move.before, [move], after)).splitlines()
            return all(words.granted(law, LICENCES) for law in laws)
        except (Rejected, NotReplayed, KeyError, ValueError, TypeError, IndexError, AttributeError):
            return False


@needs_it
@pytest.mark.parametrize("number", BLOCKS)
def test_forged_blocks(number: int) -> None:
    """The three rules of s.online with one thing changed, in what they make or in what they are told: the extracted checker says what the other says."""
    checker, rng, count = Checker(certificates()[number]), random.Random(number), Counter[tuple[str, bool]]()
    checker.run()
    steps = [Blocks(checker, facts, m) for facts, moves, _ in checker.chains for m in moves if m.rule in BY_BLOCKS]
    assert {s.move.rule for s in steps} == set(BY_BLOCKS)
    for s in steps:
        assert s.python(s.move.args, s.move.new) and s.extracted(s.move.args, s.move.new)
        for n in range(TRIES):
            args, new = s.move.args, changed(s.move.new, rng)
            if n % 4 == 0:
                name = rng.choice(sorted(args))
                args, new = {**args, name: rng.choice([changed((args[name],), rng)[0], *([x for x in args.values() if type(x) is type(args[name])])])}, s.move.new
            python, extracted = s.python(args, new), s.extracted(args, new)
            count[s.move.rule, python] += 1
            assert extracted == python, (s.move.rule, args, new)
    assert all(count[rule, False] > 10 for rule in BY_BLOCKS), count


@needs_it
def test_conditions_of_guards_inside_of_each_other() -> None:
    """What is read of a padded value is under two guards, one of them without conditions: all are held against those of the one that it becomes."""
    s = at.schedule(load("online_softmax").attention).split("weight/i", 3, tail="guard").online("top", 3, at="i")
    assert "every rule applied again" in prove(s.certificate().data, verified=True)
