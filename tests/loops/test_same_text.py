"""A program has the same loops and the same C in every process, whatever was imported and compiled before: sets of atoms are never walked where their order
can reach a text, a polynomial's terms stand in the order of its atoms, a quotient, which may be left from a program before, behind the names, and a function's sizes in the order in which its types name them.

`make same-text` does this for the whole corpus, gradients too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tools.corpus import differences, functions, texts

ROOT = Path(__file__).parents[2]
FILES = ("examples/ranks/life", "tests/functions/test_language", "bench/kernels/irregular", "bench/kernels/linalg", "bench/kernels/fourier", "bench/kernels/networks")  # those that differed once


def _recording(seed: str, place: Path, *more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tools.corpus", "record", str(place / f"{seed}.json"), "--only", *FILES, *more]
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _recorded(seed: str, place: Path, process: subprocess.Popen[str]) -> dict[str, dict[str, str]]:
    _, said = process.communicate()
    assert process.returncode == 0, said[-2000:]
    found: dict[str, dict[str, str]] = json.loads((place / f"{seed}.json").read_text())
    return found


def test_two_processes_give_the_same_text(tmp_path: Path) -> None:
    running = {"1": _recording("1", tmp_path), "77": _recording("77", tmp_path, "--shuffle", "7")}  # in another order, after other sizes were declared and added up
    one, other = (_recorded(seed, tmp_path, process) for seed, process in running.items())
    assert len(one) > 40
    assert differences(one, other) == []
    assert differences(one, {**other, "more": {}}) == ["more: only after"]


def test_a_program_that_is_compiled_again_has_the_same_text() -> None:
    """Quotients of the first time are older than the indices of the second."""
    for module in ("bench.kernels.irregular", "bench.kernels.reductions"):
        for name, f in functions(module):
            assert texts(f) == texts(f, again=True), name


ORDERS = """
import sys
import atoll as at
from atoll import f64
at.sizes(sys.argv[1])  # as some module does that is imported before
r, c, k = at.sizes("r c k")
Table = f64[r * c + k]

@at.fn
def of(rows: f64[r * c - k + 1], short: f64[c, r], long: f64[k]):
    return rows[0] + sum(short) + sum(long)

@at.fn
def named(table: Table, short: f64[c, r]):
    return table[0] + sum(short)

for f in (of, named):
    print(f)
    print(f.show("c"))
"""


def test_sizes_stand_as_the_types_name_them(tmp_path: Path) -> None:
    program = tmp_path / "orders.py"
    program.write_text(ORDERS)
    texts = [subprocess.run([sys.executable, program, before], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True).stdout for before in ("r c k", "k c r")]
    assert texts[0] == texts[1]
    assert "int64_t r, int64_t c, int64_t k" in texts[0]
    assert "rows: f64[r*c - k + 1]" in texts[0]
