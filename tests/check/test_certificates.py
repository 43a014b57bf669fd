"""Certificates: what is in them, saved and read back, what a solver settled, and the questions as SMT-LIB."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f32
from atoll.check import loops, smtlib
from atoll.check.prove import load, prove, prove_file
from atoll.check.sums import Rejected, Tables, const
from atoll.schedule import arith
from atoll.schedule.arith import Trusted
from tests.conformance.test_schedules_programs import load as load_program
from tests.schedule.small_terms import ramp

n, m = at.sizes("n m")


@at.fn
def scaled(x: f32[n, m], by: f32[m]) -> f32[n, m]:
    twice = [2 * by[j] for j in range(m)]
    return [[x[i, j] * twice[j] for j in range(m)] for i in range(n)]


def tiled() -> Any:
    return at.schedule(scaled).tile(("i", "j"), (4, 8), tail="guard").stage("twice", at="j_o").vectorize("j_i", 8).parallel("i_o")


def test_what_a_certificate_says(tmp_path: Path, capsys: Any) -> None:
    s = tiled()
    certificate = s.certificate()
    data = certificate.data
    assert data["program"] == "scaled" and data["licences"] == [] and data["sizes"] == ["n", "m"]
    assert "memory: twice 32 bytes on the stack" in certificate.check()
    assert any(name == "j_i" and "stride 1" in how for name, _, how in s.lowered.report.alignment)
    assert data["c"]["text"] == s.compile_text() == s.compile().c  # the checked loops are the loops that are printed
    for name in ("scaled.cert", "scaled.cert.gz"):
        path = certificate.save(tmp_path / name)
        assert load(str(path)) == json.loads(json.dumps(data))
        assert prove_file(path) == 0
        assert "exact, bit for bit" in capsys.readouterr().out
    (tmp_path / "broken.cert").write_text('{"format": "something else"}')
    assert prove_file(tmp_path / "broken.cert") == 1
    assert prove_file(tmp_path / "missing.cert") == 1


def test_a_solver_is_asked_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only when allowed, only where no proof and no counterexample is found; its answer is labelled, and remembered."""
    asked: list[Any] = []

    def ask(known: Any, goal: Any, milliseconds: int) -> Trusted:
        asked.append(goal)
        return Trusted(goal, "z3 4.0")

    monkeypatch.setattr(arith, "_ask_z3", ask)
    monkeypatch.setattr(arith, "_cache", {})
    known = at.schedule(scaled).theorem.context.facts
    size = at.schedule(scaled).theorem.facts[0]
    cube = size * size * size - 3 * size * size + 3 * size  # (n - 1)**3 + 1 >= 0: true, and beyond the prover
    assert arith.prove(known, cube) is None and not asked
    with arith.solver():
        assert isinstance(arith.prove(known, cube), Trusted) and isinstance(arith.prove(known, cube), Trusted)
        assert len(asked) == 1
        assert arith.prove(known, cube, optional=True) is None
        assert arith.prove(known, 3 * size - 1) is None and len(asked) == 1  # it fails for n = 0: nobody is asked


def test_trusted_proofs_need_consent() -> None:
    data = json.loads(json.dumps(tiled().certificate().data))
    row = next(k for k, proof in enumerate(data["H"]) if "t" in proof)
    data["H"][row] = {"g": data["H"][row]["g"], "trusted": "z3 4.0", "from": data["facts"]}
    with pytest.raises(Rejected):
        prove(data)
    assert "settled by a solver" in prove(data, trust=True)


def test_questions_for_other_solvers() -> None:
    text = smtlib.script(tiled())
    assert text.startswith("(set-logic ALL)") and text.count("(check-sat)") == text.count("(push)") == text.count("(pop)") > 10
    assert text.count("(") == text.count(")")
    z3 = pytest.importorskip("z3")
    solver = z3.Solver()
    solver.from_string(text.split("(push)")[1].split("(check-sat)")[0])
    assert solver.check() == z3.unsat


def test_opaque_parts_have_a_digest() -> None:
    @at.fn
    def summed(x: f32[n]) -> f32[n]:
        c = scan(add, 0.0, x)
        return [c[i] * 2 for i in range(n)]

    s = at.schedule(summed).split("i", 4)
    assert "opaque parts are not looked into" in s.certificate().check()
    data = json.loads(json.dumps(s.certificate().data))
    section = next(x for x in data["loops"]["body"] if x[0] == "section")
    section[1] = "0" * 16
    with pytest.raises(Rejected):
        prove(data)
    s.compile()(ramp(5))


def test_an_array_without_elements_on_the_stack() -> None:
    """Where a schedule leaves a loop without rounds, what its rows would be need no literal size."""
    s = at.schedule(load_program("online_softmax").attention).online("top", 4, at="i").partition("weights/j_t", [1])
    assert "top_blocks_1 0 bytes on the stack" in s.certificate().check()
    q, keys, values = (np.random.default_rng(k).standard_normal(shape) for k, shape in ((1, (2, 5)), (2, (3, 5)), (3, (3, 5))))
    assert np.allclose(s.compile()(q, keys, values), load_program("online_softmax").attention(q, keys, values))


@pytest.mark.parametrize(("extents", "rows", "refused"), [((0, 10**6), None, False), ((0, 10**6), 2, True), ((3, 8), 2, False), ((10**5, 8), 2, True), ((10**5, 8), None, True)])
def test_rows_on_the_stack_are_counted(extents: tuple[int, ...], rows: int | None, refused: bool) -> None:
    """What is kept of an array are rows, also where it has fewer."""
    reader = loops.Reader(Tables({}))
    if refused:
        with pytest.raises(Rejected, match="too large for the stack"):
            reader.alloc("b", "f64", tuple(map(const, extents)), True, rows)
    else:
        reader.alloc("b", "f64", tuple(map(const, extents)), True, rows)
