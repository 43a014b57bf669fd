"""Properties of the middle end on random programs: sharing, removing what is dead and making a program again keep its value, never add
lines or work, and change nothing the second time."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import atoll as at
from atoll.ainf import ir
from atoll.ainf.dead import Live, remove_dead
from atoll.ainf.evaluate import Evaluator
from atoll.ainf.from_core import translate
from atoll.ainf.renormal import renormal
from atoll.ainf.scan_prim import blocks
from atoll.ainf.show import show

from .generator import generate
from .harness import build, same
from .inputs import arguments, choose_sizes
from .stages import Stages

SEEDS = range(7000, 7060)


def count(block: ir.Block) -> int:
    return sum(1 + sum(count(inner) for inner in blocks(line.prim)) for line in block.lines)


def run(program: ir.Program, given: list[Any], sizes: Any) -> tuple[list[Any] | str, int]:
    e = Evaluator(program, given, sizes)
    try:
        return e.results(), e.work
    except at.Error as error:
        return error.code, e.work


@pytest.mark.parametrize("seed", SEEDS)
def test_passes(seed: int) -> None:
    program = generate(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = build(program.text)
    if isinstance(f, str):
        pytest.skip(f)
    assert isinstance(f, at.Function), f
    plain, shared = translate(f.core, share=False), translate(f.core)
    small = remove_dead(shared)
    again = remove_dead(renormal(small, Live(small)))
    assert count(small.block) <= count(shared.block) <= count(plain.block)
    assert count(again.block) <= count(small.block)
    assert show(remove_dead(again)) == show(again)
    names = [s.name for s in f.core.sizes]
    args = arguments(f.core, choose_sizes(names, seed), seed, False)
    try:
        given, sizes = Stages(f)._prepare(args)
    except at.Error:
        return
    value, work = run(plain, given, sizes)
    for other in (shared, small, again):
        found, less = run(other, given, sizes)
        assert type(found) is type(value)
        if isinstance(value, str):
            assert found == value
            continue
        assert all(same(a, b, 1e-9) for a, b in zip(found, value, strict=True))
        assert less <= work
        work = less
