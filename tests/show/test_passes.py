"""The rewrites of loops can be looked at and cut off: f.show("passes"), f.show("rewritten"), ATOLL_PASSES, tools/bisect_passes.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import atoll as at
from atoll import f64
from atoll.backends.c.jit import generate
from atoll.loops import optimise as table
from atoll.loops.check import Malformed
from atoll.loops.optimise import PASSES, optimise
from atoll.loops.show import show as show_loops
from atoll.lower.make import compiled_loops, make_loops

n, m = at.sizes("n m")
TOOL = Path(__file__).parents[2] / "tools" / "bisect_passes.py"


@at.fn
def smooth(a: f64[n, m]) -> f64[n, m]:
    return [[a[i, j] + (a[i, j - 1] if j > 0 else 0.0) + (a[i, j + 1] if j + 1 < m else 0.0) for j in range(m)] for i in range(n)]


def test_every_pass_has_a_name_and_a_reason() -> None:
    assert len({p.name for p in PASSES}) == len(PASSES)
    assert all(len(p.why) > 10 for p in PASSES)


def test_passes_end_with_what_is_compiled() -> None:
    text = smooth.show("passes")
    assert "interior (" in text and text.startswith("-- ")
    assert text.split("\n\n-- ")[-1].endswith(smooth.show("rewritten"))
    assert smooth.show("rewritten") == show_loops(compiled_loops(smooth.core)) != smooth.show("loops")
    assert generate(smooth.core, compiled_loops(smooth.core)).text == smooth.show("c")


def test_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    number = [p.name for p in PASSES].index("interior") + 1
    before, after = make_loops(smooth.core), make_loops(smooth.core)
    optimise(before, at_most=number - 1)
    optimise(after, at_most=number)
    assert show_loops(before) != show_loops(after)
    monkeypatch.setenv("ATOLL_PASSES", "0")
    assert smooth.show("rewritten") == smooth.show("loops")
    monkeypatch.setenv("ATOLL_PASSES", "many")
    with pytest.raises(at.Error) as caught:
        smooth.show("rewritten")
    assert caught.value.code == "E0826" and "ATOLL_PASSES" in str(caught.value)


def test_the_checker_names_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rewrite that leaves loops that are not well formed is caught right after it."""
    bad = table.Pass("carry", "to be wrong", table.always, lambda fn, w: [*fn.body, *fn.body[:1], table.lp.Assign(table.lp.Var("x", f64), table.lp.Const(0.0, f64))])
    monkeypatch.setattr(table, "PASSES", tuple(bad if p.name == "carry" else p for p in PASSES))
    with pytest.raises(Malformed, match="after carry"):
        optimise(make_loops(smooth.core))


PROGRAM = """
import atoll as at
from atoll import f64
from atoll.loops import ir as lp
from atoll.loops import optimise as table
from atoll.loops.transform.walk import innermost_first

n, m = at.sizes("n m")

@at.fn
def smooth(a: f64[n, m]) -> f64[n, m]:
    return [[a[i, j] + (a[i, j - 1] if j > 0 else 0.0) + (a[i, j + 1] if j + 1 < m else 0.0) for j in range(m)] for i in range(n)]
"""
WRONG = """
def wrong(fn, work):
    return innermost_first(fn.body, lambda s, known: [lp.Store(s.buffer, s.index, lp.Const(7.0, s.value.dtype))] if isinstance(s, lp.Store) else None)

good = next(p for p in table.PASSES if p.name == "carry")
table.PASSES = tuple(table.Pass("carry", good.why, good.wanted, wrong) if p is good else p for p in table.PASSES)
"""


@pytest.mark.parametrize("broken", [False, True])
def test_bisecting(tmp_path: Path, broken: bool) -> None:
    (tmp_path / "prog.py").write_text(PROGRAM + WRONG * broken)
    env = {**os.environ, "ATOLL_CACHE_DIR": str(tmp_path / "cache")}  # the broken rewrite is not part of any key
    done = subprocess.run(
        [sys.executable, str(TOOL), f"{tmp_path / 'prog.py'}:smooth", "--size", "n=5", "--size", "m=7"],
        capture_output=True, text=True, check=False, timeout=300, env=env,
    )  # fmt: skip
    assert done.returncode == int(broken), done.stderr
    assert ("wrong after rewrite" in done.stdout and ", carry" in done.stdout) == broken
