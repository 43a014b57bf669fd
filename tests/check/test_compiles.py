"""Certificates of compiles: what is proved of the rewrites of a function's loops, what is refused, and what is named as not proved."""

from __future__ import annotations

import copy
import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import atoll as at
from atoll import f64
from atoll.check.compiled import make_data, validated
from atoll.check.prove import prove, prove_file
from atoll.check.sums import Rejected
from atoll.check.watched import watch
from atoll.cli import main
from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.recipes import rows
from atoll.loops.transform import split
from atoll.sizes import poly
from tests.check.rewrite_mutations import lists, mutant
from tests.speed.test_privatise import weighted
from tests.speed.test_searches import farthest
from tests.speed.test_tiles import turned
from tests.validate.small import small_blocks
from tests.validate.test_bounded import (
    _changed,
    _everything_independent,
    _one_round_less,
    _one_round_twice,
    below,
    columns,
    distances,
    eliminate,
    running,
    smooth,
)

n, m = at.sizes("n m")

PROGRAM = """
import atoll as at
from atoll import f64

n, m = at.sizes("n m")

@at.fn
def distances(a: f64[n, m], x: f64[m]) -> f64[n]:
    return [sum(abs(a[i, j] - x[j]) for j in range(m)) for i in range(n)]

@at.fn
def other(a: f64[n, m], x: f64[m]) -> f64[n]:
    return [sum(abs(a[i, j] + x[j]) for j in range(m)) for i in range(n)]
"""


def status(f: Any, only: str | None = None) -> dict[str, str]:
    watched = watch(f.core)
    assert watched is not None
    return {r.name: why for r, why in zip(watched.rewrites, validated(watched, only=only), strict=True)}


@pytest.mark.parametrize(
    ("f", "proved"),
    [(distances, {"rows"}), (smooth, {"interior"}), (columns, {"jam", "nothing"}), (eliminate, {"several_rounds", "in_pieces", "independent", "nothing"}), (below, {"rows", "in_pieces"})],
    ids=lambda x: getattr(x, "name", ""),
)
def test_what_is_proved_for_all_sizes(f: Any, proved: set[str]) -> None:
    assert {name for name, why in status(f).items() if not why} >= proved


@pytest.mark.parametrize(
    ("f", "name", "change"),
    [
        (smooth, "interior", _one_round_less),
        (smooth, "interior", _one_round_twice),
        (distances, "rows", _one_round_less),
        (eliminate, "several_rounds", _everything_independent),
        (eliminate, "independent", _one_round_twice),
        (columns, "jam", _everything_independent),
        (below, "in_pieces", _one_round_less),
    ],
)
def test_what_is_wrong_is_not_proved(f: Any, name: str, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _changed(monkeypatch, name, change)
    assert status(f, name)[name]


def test_what_is_read_instead_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds whose check fails read something else meanwhile: found by rewrite_mutations, when it was an element before the first."""

    def before_the_first(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
        for block in lists(stmts):
            for k, s in enumerate(block):
                if isinstance(s, lp.Let) and isinstance(s.value, lp.Choose) and s.value.orelse == lp.Index(poly(0)):
                    block[k] = lp.Let(s.var, lp.Choose(s.value.tests, s.value.then, lp.Index(poly(-1))))
        return stmts

    assert not status(picked, "hoist_checks")["hoist_checks"]
    _changed(monkeypatch, "hoist_checks", before_the_first)
    assert status(picked, "hoist_checks")["hoist_checks"]


@at.fn
def picked(x: f64[m], k: at.i64[n]) -> f64[n]:
    return [x[k[i]] for i in range(n)]


def test_a_piece_left_out_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a copy says of its names (k is i - 1) is so only where it is made: found by rewrite_mutations, when the rounds before the first such piece were gone."""

    def without_the_first(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
        block = next(b for b in lists(stmts) if sum(isinstance(s, lp.For) for s in b) > 1)
        del block[next(k for k, s in enumerate(block) if isinstance(s, lp.For))]
        return stmts

    assert not status(edges, "segments")["segments"]
    _changed(monkeypatch, "segments", without_the_first)
    assert status(edges, "segments")["segments"]


def test_a_row_left_out_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two copies of a statement count by the same name in different rounds: found by rewrite_mutations 917."""

    def later(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
        block = next(b for b in lists(stmts) if any(isinstance(s, lp.Let) for s in b))
        k = max(k for k, s in enumerate(block) if isinstance(s, lp.For))
        block[k] = dataclasses.replace(block[k], low=block[k].low + 1)  # type: ignore[attr-defined, call-arg]
        return stmts

    with small_blocks():
        assert not status(turned, "tiles")["tiles"]
        _changed(monkeypatch, "tiles", later)
        assert status(turned, "tiles")["tiles"]


@at.fn
def edges(x: f64[n]) -> f64[n]:
    return [x[max(i - 1, 0)] + x[min(i + 2, n - 1)] * x[min(i + 1, n - 1)] for i in range(n)]


def test_wrong_at_random() -> None:
    """A share of `python -m tests.check.rewrite_mutations`."""
    with small_blocks():
        found = [mutant(f.core, name, seed) for f, name in ((distances, "rows"), (picked, "hoist_checks"), (smooth, "interior")) for seed in range(4)]
        found.append(mutant(weighted.core, "hoist_checks", 187))  # the flag was made of another element, by a name nobody looked at
    assert any(why for _, why, _ in found) and not [x for x in found if x[2].startswith("wrong")]


def careless(plain: Any) -> Any:
    """Blocks counted without asking whether the range is empty."""

    def count(name: str, loop: lp.For, width: int, *rest: Any) -> Any:
        made, blocks = plain(name, loop, width, *rest)
        return dataclasses.replace(made, value=lp.Index((loop.high - loop.low) // width)), blocks

    return count


def test_the_corruption_of_rows_is_found_when_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """With that fix reverted the rewrite is not proved, and ATOLL_CHECK=certify stops the compile."""
    monkeypatch.setattr(rows, "counted", careless(split.counted))
    monkeypatch.setattr(profit, "LONG_ROW", 8)
    monkeypatch.setattr(profit, "NEAR", 1 << 30)
    assert status(below, "rows")["rows"]
    monkeypatch.setenv("ATOLL_CHECK", "certify")
    with pytest.raises(at.Error) as error:
        at.fn(source=BELOW).compile("0")
    assert error.value.code == "E0511" and "rewrite rows is wrong" in str(error.value)


BELOW = """
import atoll as at
from atoll import f64
n = at.sizes("n")
def below(a: f64[n, n], b: f64[n, n], x: f64[n]) -> f64[n, n]:
    for j in range(n):
        for i in range(j + 2, n):
            b[i, j] = sum(a[i, r] * x[r] for r in range(n))
    return b
"""


def test_saved_and_checked_as_a_user_does(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "prog.py").write_text(PROGRAM)
    f = at.fn(source=PROGRAM.rsplit("@at.fn", 1)[0])
    certificate = f.certificate()
    assert "1 of 1 rewrites proved" in repr(certificate) and "rows" in certificate.check()
    path = certificate.save(tmp_path / "distances.cert.gz")
    (tmp_path / "distances.c").write_text(f.show("c"))
    assert main(["prove", str(path)]) == 0 and "not looked at here" in capsys.readouterr().out
    prog = f"{tmp_path / 'prog.py'}:"
    assert main(["prove", str(path), "--program", f"{prog}distances", "--c", str(tmp_path / "distances.c")]) == 0
    said = capsys.readouterr().out
    assert "made again from its text" in said and "what the last loops are printed as" in said
    assert main(["prove", str(path), "--program", f"{prog}other"]) == 1
    (tmp_path / "distances.c").write_text(f.show("c").replace("fabs", "fmax"))
    assert main(["prove", str(path), "--program", f"{prog}distances", "--c", str(tmp_path / "distances.c")]) == 1


def test_what_is_not_proved_is_named() -> None:
    """Nothing is accepted silently: a rewrite that was only run, and one that nobody looked at."""
    data = farthest.certificate().data
    rows_ = {r["name"]: r for r in data["rewrites"]}
    assert rows_["searches"]["status"] in ("bounded", "open")
    assert "searches" in prove(data) and "- searches: not" in farthest.assumptions()
    assert "lowering: " in running.assumptions() and "opaque parts: scan" in running.assumptions()


@at.fn
def power(x: f64, k: at.i64) -> f64:
    return 1.0 if k == 0 else x * power(x, k - 1)


def test_functions_and_derivatives() -> None:
    gradient = at.grad(at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]) -> at.f64:\n    return sum(x * x * x)\n"))
    assert gradient.certificate().check()
    data = power.certificate().data
    assert [r["status"] for r in data["rewrites"]] == ["open"] and "λANF" in prove(data)


def test_operators_and_nodes_of_madl() -> None:
    nd = at.madl(source="let twice (x of [_]f64) returns (y): forward ([a] = x) returns (y = [b]): b = 2.0 * a end")
    assert "not looked at: madl" in nd.twice.certificate().check() and "madl: not validated" in nd.twice.assumptions()
    counter = at.node(at.fn(source="import atoll as at\ndef f(s: at.i64, x: at.i64) -> (at.i64, at.i64):\n    return s + x, s\n"), 0)
    assert counter.certificate().check().startswith("f: ")


def lie(data: dict[str, Any]) -> None:
    for r in data["rewrites"]:
        if r["status"] != "proved":
            r |= {"status": "proved", "origins": [None] * 1000, "roots": []}


def swap_origins(data: dict[str, Any]) -> None:
    row = data["rewrites"][0]
    marked = [k for k, o in enumerate(row["origins"]) if isinstance(o, list)]
    row["origins"][marked[0]], row["origins"][marked[-1]] = row["origins"][marked[-1]], row["origins"][marked[0]]


def another_value(data: dict[str, Any]) -> None:
    """A statement that only the loops after a rewrite have computes something else."""
    old = _reached(data, data["lowered"])
    s = next(s for k, s in enumerate(data["S"]) if k not in old and s[0] in ("let", "add", "store"))
    data["E"].append(["call", "neg", [s[3]], "f64"])
    s[3] = len(data["E"]) - 1


def _reached(data: dict[str, Any], body: list[int]) -> set[int]:
    found = set(body)
    for k in body:
        for part in data["S"][k]:
            if data["S"][k][0] in ("for", "chunks", "accumulate", "if") and isinstance(part, list) and all(isinstance(x, int) for x in part):
                found |= _reached(data, [x for x in part if type(x) is int])
    return found


@pytest.mark.parametrize("forge", [lie, swap_origins, another_value])
def test_forgeries(forge: Any) -> None:
    good = (farthest if forge is lie else distances).certificate().data
    bad = json.loads(json.dumps(good))
    forge(bad)
    assert prove(copy.deepcopy(good))
    with pytest.raises(Rejected):
        prove(bad)


def test_by_itself(tmp_path: Path) -> None:
    """In a process of its own the checker loads itself and nothing else of Atoll."""
    path = distances.certificate().save(tmp_path / "distances.cert")
    alone = Path(at.__path__[0]) / "check" / "alone.py"
    code = f"import runpy, sys\nsys.argv = ['alone', {str(path)!r}]\ntry: runpy.run_path({str(alone)!r}, run_name='__main__')\nexcept SystemExit as end: print('status', end.code)\nprint(*(m for m in sys.modules if m.startswith('atoll') or m == 'numpy'))"
    said = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path).stdout.splitlines()
    assert said[0].startswith("distances: 1 of 1 rewrites proved") and said[-2] == "status 0"
    own = {"prove", "terms", "rules", "blocks", "follow", "loops", "nests", "sums", "limits", "verified", "replayed"}
    loaded = [m for m in said[-1].split() if m not in ("atoll", "atoll.check") and not m.startswith("atoll.check.rewrites")]
    assert {m.removeprefix("atoll.check.") for m in loaded} <= own


def test_damaged(tmp_path: Path) -> None:
    good = json.dumps(make_data(distances.core))
    for text in (good[:-5], good.replace('"lowered"', '"lower"'), good.replace('"S": [[', '"S": [[[[['), good.replace('"rewrites"', '"x"')):
        (tmp_path / "bad.cert").write_text(text)
        assert prove_file(tmp_path / "bad.cert") == 1
