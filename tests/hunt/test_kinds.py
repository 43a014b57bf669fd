"""The generators make what they are said to make: every kind of program comes up, counted over texts alone."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import pytest

from tests.fuzz.control import program as control
from tests.fuzz.generator import generate
from tests.fuzz.imperative import program as imperative
from tests.fuzz.rewrites.run import program as rewrites
from tests.fuzz.rewrites.table import ROWS
from tests.fuzz.scopes import generate as scopes
from tests.fuzz_ad.nests import nest
from tests.fuzz_ad.structures import structure

SEEDS = 60
OPERATOR = r"\b(?:reduce|scan|fold|hist)\((?:lambda|op\b)"
KINDS = {  # what is looked for, and in programs of which generators
    "operators over tuples": (OPERATOR + r"[^\n]*\[0\]|def op\(p, q\)", "rewrites structures"),
    "operators over records": (OPERATOR + r"[^\n]*Pair\(", "structures"),
    "operators over arrays": (OPERATOR + r"[^\n:]*: \[", "rewrites structures"),
    "elements that do not vary": (r"\[(?:\(y\[0\] \* 0|\[x\[0\]|\w+ \* 0\.\d\b|tanh\(\w+\) \* 0\.\d)[^\n]* for [ij] in range", "rewrites structures"),
    "functions that take functions": (r"at\.Fn", "scopes"),
    "returned closures": (r"return lambda", "scopes"),
    "matrices as state": (r"^\s+\w+\[[^\]:]+, [^\]:]+\] [+*-]?=", "rewrites imperative nests"),
    "rows exchanged": (r"(\w+)\[[^\]:,]+\], \1\[[^\]:,]+\] = ", "rewrites imperative"),
    "slices of matrices": (r"\w+\[[^\],]*:[^\]]*,[^\]]*\] [+*-]?=|\w+\[[^\],]*, [^\]]*:[^\]]*\] [+*-]?=", "rewrites imperative nests"),
    "several sums of columns": (r"axis=0\)\n[^\n]*axis=0\)|for i in range\(n\)\) for j in range\(m\)\]\n[^\n]*for i in range\(n\)", "rewrites"),
    "ranges backwards": (r"range\([^\n]*, -\d+\)", "rewrites general imperative control"),
    "ranges of data": (r"range\([^\n()]*q?\[", "rewrites control nests"),
    "ranges under filters": (r"in range\([^\n]*\) if ", "rewrites general"),
    "dependences at 3 or 4": (r"[-+] [34]\]|[-+] [34]\) %|, [34]:\]|:-[34]\]", "rewrites"),
    "dependences at 16 or 17": (r"[-+] 1[67]\b", "rewrites"),
    "mixed dtypes": (r"def f\([^\n]*(?:i32|u8)\[[^\n]*(?:f64|i64)\[|def f\([^\n]*(?:f64|i64)\[[^\n]*(?:i32|u8)\[", "rewrites general"),
    "views of views": (r"(?:reverse|rotate|transpose|flatten|pad_l|trunc_l|concat)\([^\n]*(?:reverse|rotate|transpose|flatten|pad_r|trunc_r|concat)\(|\.T\b", "rewrites"),
    "states assigned to states": (r"^\s+([a-z]) = ([a-z])$", "rewrites control"),
    "states exchanged": (r"^\s+(\w+), (\w+) = \2, \1$", "rewrites control"),
    "histograms side by side": (r"hist\([^\n]*\), hist\(", "rewrites"),
    "local functions": (r"^\s+def [gh]\(|[gh] = lambda", "rewrites"),
}


@lru_cache(maxsize=1)
def texts() -> dict[str, list[str]]:
    seeds = range(7000, 7000 + SEEDS)
    return {
        "rewrites": [rewrites(seed, row)[1].text for row in ROWS for seed in range(7000, 7012)],
        "general": [generate(seed).text for seed in seeds],
        "imperative": [imperative(seed) for seed in seeds],
        "control": [control(seed) for seed in seeds],
        "scopes": ["\n".join(scopes(seed).texts) for seed in seeds],
        "structures": [structure(seed) for seed in seeds],
        "nests": [nest(seed) for seed in seeds],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_comes_up(kind: str) -> None:
    pattern, where = KINDS[kind]
    for name in where.split():
        assert sum(re.search(pattern, text, re.M) is not None for text in texts()[name]) >= 2, f"{kind} in {name}"


def test_sizes_around_every_block() -> None:
    counted = Counter(size for row in ROWS for seed in range(7000, 7006) for pair in rewrites(seed, row)[1].sizes for size in pair)
    assert {*range(4), *(block + beside for block in (4, 8, 16, 64, 256, 2048) for beside in (-1, 0, 1))} <= set(counted)
