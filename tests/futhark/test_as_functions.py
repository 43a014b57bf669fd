"""An entry point of a Futhark program is a function like any other: under other options and targets, called by Atoll functions, pickled, differentiated, exported."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.function import Function

n = at.sizes("n")
TEXT = """
def dot [n] (xs: [n]f64) (ys: [n]f64) : f64 = reduce (+) 0 (map2 (*) xs ys)
entry matvec [n] [m] (a: [n][m]f64) (x: [m]f64) : [n]f64 = map (dot x) a
entry norm [n] (xs: [n]f64) : f64 = f64.sqrt (dot xs xs)
"""
A, X = np.arange(12.0).reshape(3, 4), np.array([1.0, -2.0, 3.0, 0.5])


@pytest.fixture
def norm() -> Function:
    return at.futhark(source=TEXT).norm


def test_other_target() -> None:
    fut = at.futhark(source=TEXT)
    np.testing.assert_allclose(fut.matvec.on("cuda-emulated")(A, X), A @ X)
    np.testing.assert_allclose(at.grad(fut.norm.on("cuda-emulated"))(X), X / np.linalg.norm(X))
    assert fut.norm.on("cuda-emulated").type == fut.norm.type


def test_other_options(norm: Function) -> None:
    portable = norm.with_options(dataclasses.replace(norm.options, bits="portable"))
    assert portable(X) == pytest.approx(np.linalg.norm(X)) and portable.__doc__ == norm.__doc__


def test_called_by_a_function_of_python(norm: Function) -> None:
    @at.fn
    def twice(xs: at.f64[n]) -> at.f64:
        return 2 * norm(xs)

    assert twice(X) == pytest.approx(2 * np.linalg.norm(X))
    np.testing.assert_allclose(at.grad(twice)(X), 2 * X / np.linalg.norm(X))
    assert pickle.loads(pickle.dumps(twice))(X) == twice(X)


def test_pickled(norm: Function, tmp_path: Path) -> None:
    """By its text: another process has nothing else."""
    assert pickle.loads(pickle.dumps(norm.on("cuda-emulated")))(X) == pytest.approx(np.linalg.norm(X))
    (tmp_path / "slope").write_bytes(pickle.dumps((at.grad(norm), X)))
    run = "import pickle, sys; f, x = pickle.load(open(sys.argv[1], 'rb')); print(*(float(v) for v in f(x)))"
    done = subprocess.run([sys.executable, "-c", run, str(tmp_path / "slope")], capture_output=True, text=True, check=True)
    np.testing.assert_allclose([float(w) for w in done.stdout.split()], X / np.linalg.norm(X))


def test_pickled_with_what_it_imports(tmp_path: Path) -> None:
    (tmp_path / "lib.fut").write_text("def twice (x: f64) = x * 2")
    (tmp_path / "prog.fut").write_text('import "lib"\nentry main (x: f64) : f64 = twice x + 1')
    assert pickle.loads(pickle.dumps(at.futhark(tmp_path / "prog.fut").main))(3.0) == 7.0


def test_supplied_derivatives_stay_under_other_options() -> None:
    @at.fn
    def half(x: at.f64) -> at.f64:
        return 0.5 * x

    @half.def_jvp(check=False)
    def _(x: at.f64, dx: at.f64) -> at.f64:
        return 7 * dx

    assert at.jvp(half.with_options(dataclasses.replace(half.options, bits="portable")), 1.0, 1.0) == at.jvp(half, 1.0, 1.0)
