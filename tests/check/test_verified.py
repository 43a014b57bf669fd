"""Certificates by the checkers that are proved in Coq (proofs/): both say the same. `make proofs` builds them; without them only the refusal is tried."""

from __future__ import annotations

import copy
import itertools
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from atoll import cli
from atoll.check import verified
from atoll.check.prove import Checker, prove
from atoll.check.rewrites.refute import cannot, refuted
from atoll.check.rewrites.traced import Traced
from atoll.check.sums import Rejected, add, const, div, mul, sub, subst, value, var
from tests.check.mutations import LOOKED_UP, certificates
from tests.validate.test_bounded import distances

BUILT = verified.program() is not None
needs_it = pytest.mark.skipif(not BUILT, reason="make proofs builds the verified checker")
SOURCES = Path(__file__).parents[2] / "proofs"


@needs_it
@pytest.mark.parametrize("number", range(len(certificates())))
def test_both_accept(number: int) -> None:
    data = certificates()[number]
    text = prove(data, verified=True)
    assert f"; {text.split(' proofs hold')[0].split()[-1]} rows from" in text
    steps = [rule for _, rule, *_ in data["steps"] if rule not in ("start", "assume", "nest_round", "let_dead")]  # an opaque part is an argument there, and its rounds are elements of it
    if number in LOOKED_UP:
        assert "in Coq: no steps (an element of a named value, looked up by data)" in text
        return
    assert int(text.split("in Coq: ")[1].split(" steps, every rule applied again")[0]) >= len(steps)


@needs_it
def test_what_is_changed_on_the_way_is_refused() -> None:
    """The words of a certificate that both accept, with one number or one word changed: refused, or another thing that is true (a coefficient that cancels)."""
    checker = Checker(certificates()[0], False)
    checker.run()
    words = list(verified._Words(checker.proofs).all())
    rng, refused = random.Random(0), 0
    places = [k for k, w in enumerate(words) if w.lstrip("-").isdigit()]
    program = verified.program()
    assert program is not None
    for _ in range(40):
        changed = list(words)
        k = rng.choice(places)
        changed[k] = str(int(changed[k]) + rng.choice([-1, 1, 2]))
        done = subprocess.run([program], input=" ".join(changed), capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1, 2)
        refused += done.returncode != 0
    assert refused > 25


@needs_it
def test_refutations_of_a_compile() -> None:
    """Every contradiction that the validator of rewrites found is found again with its rows, and accepted."""
    text = prove(distances.certificate().data, verified=True)
    assert int(text.split("(proofs/Questions.v): ")[1].split(" questions")[0]) > 100 and "proofs/Reorder.v" in text


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_refutations(seed: int) -> None:
    """What refute.py refutes, traced.py does again with reasons that add up; random systems of conditions on three unknowns and a quotient."""
    rng = random.Random(seed)
    atoms = [var("i"), var("j"), var("n"), div(add(var("i"), var("j")), const(3))]
    found = 0
    for _ in range(60):
        conds = []
        for _ in range(rng.randrange(2, 6)):
            p = const(rng.randrange(-6, 7))
            for a in rng.sample(atoms, rng.randrange(1, 4)):
                p = add(p, mul(const(rng.choice([-6, -3, -2, -1, 1, 2, 4])), a))
            conds.append((rng.choice(["ge", "ge", "eq"]), p))
        if refuted(conds):
            found += 1
            traced = Traced(conds)
            rows = traced.needed()
            assert value(rows[-1][0]) is not None and (value(rows[-1][0]) or 0) < 0
            for goal, scale, rest, cut, terms in rows:
                total = const(rest)
                for k, source in terms:
                    assert k > 0
                    total = add(total, mul(const(k), _of(source)))
                assert scale == 1 and rest >= 0 and sub(add(mul(const(cut), goal), const(cut)), const(1)) == total
    assert found > 3


def _random_question(rng: random.Random) -> Any:
    atoms = [var("i"), var("j"), var("n")]

    def cond() -> Any:
        if rng.random() < 0.2:
            return ("op", ("use", rng.choice("ab")), rng.random() < 0.5)
        p = const(rng.randrange(-3, 4))
        for a in rng.sample(atoms, rng.randrange(1, 3)):
            p = add(p, mul(const(rng.choice([-2, -1, 1, 2])), a))
        return (rng.choice(["ge", "ge", "eq", "ne"]), p)

    return tuple(cond() for _ in range(rng.randrange(2, 6))), tuple([[cond() for _ in range(rng.randrange(1, 3))] for _ in range(rng.randrange(1, 4))] for _ in range(rng.randrange(3)))


def _possible(question: Any) -> bool:
    """Some small numbers and truths satisfy it."""
    conds, groups = question

    def so(c: Any, env: Any, data: Any) -> bool:
        if c[0] == "op":
            return bool(data[c[1][1]] == c[2])
        found = value(subst(c[1], env)) or 0
        return found >= 0 if c[0] == "ge" else (found == 0) == (c[0] == "eq")

    for i, j, n in itertools.product(range(-3, 4), repeat=3):
        env = {"i": const(i), "j": const(j), "n": const(n)}
        for a, b in itertools.product((True, False), repeat=2):
            data = {"a": a, "b": b}
            if all(so(c, env, data) for c in conds) and all(any(all(so(c, env, data) for c in case) for case in g) for g in groups):
                return True
    return False


@needs_it
@pytest.mark.parametrize("seed", range(2))
def test_questions(seed: int) -> None:
    """What is answered with yes has no solution, and its answer is accepted; the same answer to a question without one of its conditions, which has a solution, is refused."""
    rng, accepted, refused = random.Random(seed), 0, 0
    found = verified.program()
    assert found is not None
    for _ in range(40):
        question = _random_question(rng)
        if not cannot(*question):
            continue
        assert not _possible(question)
        words = verified._Questions()
        answer = list(words.tree(question[0], list(enumerate(question[1]))))
        k = rng.randrange(len(question[0]))
        for conds in (question[0], (*question[0][:k], *question[0][k + 1 :])):
            groups = [w for g in question[1] for w in (str(len(g)), *(w for case in g for w in words.conds(case)))]
            text = ["1", "ask", *words.conds(conds), str(len(question[1])), *groups, *answer]
            done = subprocess.run([found], input=" ".join(text), capture_output=True, text=True, timeout=60)
            if conds is question[0]:
                assert done.returncode == 0, done.stdout
                accepted += 1
            elif _possible((conds, question[1])):
                assert done.returncode == 1, done.stdout
                refused += 1
    assert accepted > 3 and refused > 2


def _of(source: Any) -> Any:
    if source[0] == "known":
        return source[1]
    num, den = source[1:]
    scaled = mul(den, div(num, den))
    return sub(num, scaled) if source[0] == "below" else sub(sub(add(scaled, den), const(1)), num)


@needs_it
@pytest.mark.parametrize("text", ["", "1", "1 1 x", "1 rows 0 1 row 0 0 0 0 maybe", "1 rows 0 1 row 1 -1 0 1 1 0 0 0 nocut", "1 refute 0 0", "1 ask 0 0 refute 0", "1 ask 1 ge 1 5 0 0 refute 1 weaker 1 0 1 5 0 1 5 0", "1 ask 0 0 cases 0 0", "1 ask 1 ge 0 0 apart 0 refute 0 refute 0", "1 ask 1 data 1 true 0 contrary 1", "1 ask 0 0 cases 99999999999999999999 0", "1 0 0", "x" * 1000])
def test_what_it_cannot_read_is_refused(text: str) -> None:
    program = verified.program()
    assert program is not None
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2) and done.stdout


def test_without_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setattr(verified, "program", lambda: None)
    with pytest.raises(Rejected, match="make proofs"):
        prove(copy.deepcopy(certificates()[0]), verified=True)
    monkeypatch.setattr(verified, "program", lambda: str(tmp_path / "nothing"))
    with pytest.raises(Rejected, match="FileNotFoundError"):
        prove(copy.deepcopy(certificates()[0]), verified=True)


def test_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    import json

    place = tmp_path / "a.cert"
    place.write_text(json.dumps(certificates()[0]))
    if BUILT:
        assert cli.main(["prove", str(place), "--verified"]) == 0
        assert "proved in Coq" in capsys.readouterr().out
    monkeypatch.setattr(verified, "program", lambda: None)
    assert cli.main(["prove", str(place), "--verified"]) == 1
    assert "make proofs" in capsys.readouterr().out


@pytest.mark.parametrize("theory", sorted(SOURCES.glob("*.v")), ids=lambda p: p.stem)
def test_nothing_is_assumed(theory: Path) -> None:
    """No axiom, no proof left out, and the Makefile checks the file."""
    text = theory.read_text()
    assert not {"Axiom", "Axioms", "Admitted", "admit", "Parameter", "Parameters", "Conjecture", "Unset"} & set(text.replace(".", " ").split())
    assert theory.stem in (SOURCES / "Makefile").read_text().split("THEORIES := ")[1].split("\n")[0].split()
