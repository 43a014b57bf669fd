"""Forgeries of compiles' certificates by coordinated edits: what is accepted computes the same. Some hundred here; thousands by `python -m tests.check.certificate_mutations`."""

from __future__ import annotations

import random

from atoll.check.rewrites.language import walk
from tests.check import certificate_mutations as mutations
from tests.check.run_compiles import results, same


def test_what_is_accepted_is_the_same(capsys: object) -> None:
    assert mutations.main(0, 10, ["tests/check/test_compiles"]) == 0


def test_the_interpreter_sees_what_is_wrong() -> None:
    """A statement left out, and rounds that see each other: the runs differ."""
    from tests.validate.test_bounded import distances

    with mutations.small_blocks():
        found = next(x for x in mutations.stages(distances.core))
    _, chain, before, after = found
    sizes = dict.fromkeys(chain.sizes, 4)
    want = results(before, sizes, chain, 0, False)
    assert same(want, results(after, sizes, chain, 0, True))
    trees = mutations.tree(after, iter([None] * sum(1 for _ in walk(after))))
    stores = [(b, k) for b in mutations.lists(trees) for k, t in enumerate(b) if t[0][0] == "store"]
    block, k = stores[0]
    del block[k]
    assert not same(want, results(mutations.flat(trees)[0], sizes, chain, 0, False))


def test_an_edit_of_no_tests_leaves_none() -> None:
    """An empty list of tests is no polynomial: edits of it were tests that are none."""
    statement = ["if", (), (), ()]
    made = [mutations.one_edit([[list(statement), None, [[], []]]], {"v": ("a number",)}, 1, random.Random(seed)) for seed in range(200)]
    assert "polynomials" not in made and {"gone", "twice"} <= set(made)
