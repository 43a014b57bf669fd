"""The arithmetic of certificates by the checker that is proved in Coq (proofs/): both checkers say the same. `make proofs` builds it; without it only the refusal is tried."""

from __future__ import annotations

import copy
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from atoll import cli
from atoll.check import verified
from atoll.check.prove import Checker, prove
from atoll.check.rewrites.refute import refuted
from atoll.check.rewrites.traced import Traced
from atoll.check.sums import Rejected, add, const, div, mul, sub, value, var
from tests.check.mutations import certificates
from tests.validate.test_bounded import distances

BUILT = verified.program() is not None
needs_it = pytest.mark.skipif(not BUILT, reason="make proofs builds the verified checker")
SOURCES = Path(__file__).parents[2] / "proofs"


@needs_it
@pytest.mark.parametrize("number", range(len(certificates())))
def test_both_accept(number: int) -> None:
    text = prove(certificates()[number], verified=True)
    rows = int(text.split("(proofs/Arithmetic.v): ")[1].split()[0])
    assert rows == int(text.split(" proofs hold")[0].split()[-1])


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
    assert int(text.split("(proofs/Arithmetic.v): ")[1].split(" refutations")[0]) > 100 and "proofs/Reorder.v" in text


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


def _of(source: Any) -> Any:
    if source[0] == "known":
        return source[1]
    num, den = source[1:]
    scaled = mul(den, div(num, den))
    return sub(num, scaled) if source[0] == "below" else sub(sub(add(scaled, den), const(1)), num)


@needs_it
@pytest.mark.parametrize("text", ["", "1", "1 1 x", "1 rows 0 1 row 0 0 0 0 maybe", "1 rows 0 1 row 1 -1 0 1 1 0 0 0 nocut", "1 refute 0 0", "1 refute 1 1 5 0 1 weaker 1 0 1 5 0 1 5 0", "1 0 0", "x" * 1000])
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


def test_nothing_is_assumed() -> None:
    """No axiom, and nothing admitted, in the sources."""
    for path in SOURCES.glob("*.v"):
        text = path.read_text()
        assert not any(word in text.split() for word in ("Axiom", "Admitted.", "admit.", "Parameter", "Conjecture")), path
