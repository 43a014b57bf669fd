"""The whole reader in a few seconds: every kind of syntax, every name of the prelude and every function of the scalar modules stands in some program of ours that runs."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.futhark import syntax as s
from atoll.futhark.parse import parse
from atoll.futhark.prelude import prelude
from tests.futhark import strangers, strangers_round, test_sizes_known
from tests.futhark.names import NAMES, RARE

HERE = Path(__file__).parent


def corpus() -> list[str]:
    """The texts of right programs that other tests of this folder run."""
    files = [*(HERE / "programs").glob("*.fut"), HERE.parent.parent / "examples/futhark/kmeans.fut"]
    right = [p.text for p in (strangers.RIGHT | strangers_round.RIGHT).values()] + [text for text, _, _ in test_sizes_known.RIGHT.values()]
    return [*(f.read_text(encoding="utf-8") for f in files), *right, *(text for text, _, _ in RARE.values()), *(f"def x = {text}" for text, _ in NAMES), *IMPORTS.values()]


IMPORTS = {"lib/one.fut": "def one = 1i32", "main.fut": 'import "lib/one"\nmodule again = import "lib/one"\nentry f = one + again.one'}


def same(found: Any, wanted: Any) -> None:
    for a, b in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-14)


def test_names() -> None:
    fut = at.futhark(source="\n".join(f"entry e{k} = {text}" for k, (text, _) in enumerate(NAMES)))
    for k, (text, wanted) in enumerate(NAMES):
        try:
            same(getattr(fut, f"e{k}").interpret(), wanted)
        except AssertionError as wrong:
            raise AssertionError(f"{text}: {wrong}") from None


@pytest.mark.parametrize("name", RARE)
def test_rare_syntax(name: str) -> None:
    text, args, wanted = RARE[name]
    same(at.futhark(source=text).f.interpret(*args), wanted)


def test_imports(tmp_path: Path) -> None:
    for name, text in IMPORTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert at.futhark(str(tmp_path / "main.fut")).f.interpret() == 2


def kinds_in(x: Any, found: set[str]) -> None:
    if isinstance(x, (list, tuple)):
        for item in x:
            kinds_in(item, found)
    elif dataclasses.is_dataclass(x):
        found.add(type(x).__name__)
        for f in dataclasses.fields(x):
            if f.name not in s.CHECKED:
                kinds_in(getattr(x, f.name), found)


def words() -> set[str]:
    return {w for text in corpus() for w in re.findall(r"[A-Za-z_][\w'.]*|[-+*/%<>=!&|^`.]+", text)}


def test_every_kind_of_syntax() -> None:
    found: set[str] = set()
    for text in corpus():
        kinds_in(parse(text), found)
    kinds = {c.__name__ for c in vars(s).values() if isinstance(c, type) and issubclass(c, s.Node) and c is not s.Node}
    assert kinds - found == set()


def test_every_name_of_the_prelude() -> None:
    env = prelude()
    names = {n for n in env.values if not n.startswith(("builtin_", "%"))}
    used = {part for w in words() for part in (w, w.rsplit(".", 1)[-1])}
    assert names - used == set()


@pytest.mark.parametrize("module", ["i32", "u8", "f64", "bool"])
def test_every_function_of_a_scalar_module(module: str) -> None:
    """In one module of its kind at least."""
    like = {"i32": r"[iu]\d+", "u8": r"[iu]\d+", "f64": r"f\d+", "bool": "bool"}[module]
    env = prelude()
    assert env.parent is not None
    names = set(env.parent.mods[module].values)
    used = {w.split(".", 1)[1] for w in words() if re.match(like + r"\.", w)} | {w for w in words() if not w[0].isalpha()}
    assert names - used == set()
