"""Memory inside an operator: on the stack when its size is a number, given by the caller when it is not, as large as the largest round needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from atoll.errors import Error
from atoll.madl.c_example import example
from atoll.madl.c_file import CFile
from tests.madl.c_shape import shape
from tests.madl.corpus import DOT
from tests.madl.harness import SANITIZE, agree, call, last, load, strict_compile

TRIANGLE = """
let f (x of %s) returns (s):
  forward [size k] returns (s = {t}):
    (p of [k]_) ++ _ = x;
    q = !reverse(p);
    forward [i] ([b] = q) returns (u = {v}): v init 0 += b*(i + 1) end
    t init 0 = last t + u
"""
SQUARE = """
let f (x of ['n]['n]int) returns (s):
  forward [size k] ([_] = x) returns (s = {t}):
    (rows of [k]_) ++ _ = x;
    forward ([r] = rows) returns (q = [y]): (c of [k]_) ++ _ = r; y = !c end
    forward, ([[b]] = transpose(q)) returns (u = {{v}}): v init 0 = last v*2 + b end
    t init 0 = last t + u
"""
PROGRAMS = {
    "symbolic": TRIANGLE.replace("[size k]", "<<'n>> [size k]") % "['n]int",
    "constant": TRIANGLE.replace("[size k]", "<<5>> [size k]") % "[5]int",
    "square": SQUARE,
    "called": DOT + "let f (x of [_]int) returns (s): forward [size k] ([_] = x) returns (s = {t}): (p of [k]_) ++ _ = x; u = dot(p, !reverse(p)); t init 0 = last t + u",
    "shrinking": "let f (x of [_]int) returns (s): forward [size k] ([_] = x) returns (s = {t}): p ++ (_ of [k]_) = x; w = !p; t init 0 = last t + w.[0]",
    "in a callee": "let rev (a of [_]int at 'l) returns (b at 'l): b = !reverse(!a)\nlet f (a of [_]int at 'l) returns (b at 'l): b = rev(rev(a))",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_oracle_and_code_agree(name: str) -> None:
    op = last(PROGRAMS[name])
    for seed in range(4):
        agree(op, seed=seed, cycles=2, code=seed < 2)


def test_a_constant_bound_is_on_the_stack() -> None:
    assert "int q[5];" in shape(last(PROGRAMS["constant"]))
    assert [c.role for c in last(PROGRAMS["symbolic"]).scheme.chunks].count("workspace") == 1


SHARED = """
let sum (x of [_]int) returns (s): forward ([a] = x) returns (s = {t}): t init 0 = last t + a
let two (x of [_]int) returns (s of int, t of int):
  forward ([a] = x) returns (u = [b]): b = 2*a end;
  s = sum(reverse(u)) + u.[0];
  forward ([a] = x) returns (v = [b]): b = a + s end;
  t = sum(reverse(v)) + v.[0] + s
let rounds (x of [_]int, k of idx<<4>>) returns (s of int):
  forward <<k>> returns (s = {t}): p, q = two(x); r, w = two(x); t init 0 = last t + p + q - r + w
let both (x of [_]int) returns (s of int): u = !reverse(x); v = !reverse(u); s = sum(u) + sum(v) - u.[0]*v.[0]
let outer (x of [_]int) returns (s of int): p, q = two(x); r, w = two(x); s = p + q + r + w + rounds(x, clamp<<4>>(p)) + both(x)
let fixed (x of [8]int) returns (s of int): s = outer(x)
"""


def test_workspaces_that_do_not_live_together_are_one() -> None:
    library = load(SHARED)
    for name, count in {"two": 1, "rounds": 1, "both": 2, "outer": 2}.items():
        op = library.operators[name]
        assert [c.role for c in op.scheme.chunks].count("workspace") == count, name
        for seed in range(3):
            agree(op, seed=seed, code=seed == 0)
    agree(library.operators["fixed"])
    assert "#define OUTER_WORK_BYTES(n) (8 * (n))" in CFile("m", [library.operators["outer"]]).header()


def test_the_macro_covers_every_round() -> None:
    op = last(PROGRAMS["symbolic"])
    file = CFile("m", [op])
    assert "#define F_WORK_BYTES(n) (4 * (n))" in file.header()
    assert call(op, [1, 2, 3, 4]) == sum(sum((i + 1) * v for i, v in enumerate(reversed([1, 2, 3, 4][:k]))) for k in range(4))


def test_strict_c_under_sanitizers(tmp_path: Path) -> None:
    import subprocess

    file = CFile("all", [last(source) for source in PROGRAMS.values()])
    program = strict_compile(file.source(), file.header(), "all", tmp_path, extra=SANITIZE, example=example(file))
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_size_that_has_no_largest_is_refused() -> None:
    source = """
let f <<n>> () returns (s):
  forward <<n>> [size k] returns (s = {t}):
    forward <<k*k>> returns (q = [e]): e = 1 end
    forward ([b] = q) returns (u = {v}): v init 0 += b end
    t init 0 = last t + u
"""
    with pytest.raises(Error) as caught:
        load(source)
    assert caught.value.code == "E0942"
    assert "q needs a workspace of size k*k, which depends on a loop index" in str(caught.value)
