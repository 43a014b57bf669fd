"""What exported C promises: signatures that follow from the interface, integers that wrap, state that checks its sizes, tables in ROM, names that were asked for."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atoll.errors import Error
from atoll.madl.back_to_back import Caller
from atoll.madl.c_example import example
from atoll.madl.c_file import CFile, Options
from atoll.madl.targets import TARGETS, available
from tests.madl.corpus import ACCEPTED
from tests.madl.firmware import advisory_rules, broken_rules
from tests.madl.harness import (
    STRICT,
    by_oracle,
    default_types,
    last,
    load,
    module,
    pick_sizes,
    random_inputs,
    same,
    strict_compile,
)


def heads(source: str, **options: Any) -> dict[str, str]:
    """The public declarations of the last operator, without `void`."""
    file = CFile("m", [last(source)], Options(**options))
    return {part: re.sub(r"^void ", "", head) for part, head in file.heads(file.exported[0], "").items()}


SIGNATURES = {
    # the order of declaration, whatever the names are
    "let f (z of int, a of int) returns (m, b): m = z + a; b = z - a": "f(int32_t z, int32_t a, int32_t *m, int32_t *b)",
    # the same interface, the result in memory of its own, in state, in an argument
    "let f (x of int) returns (y): y = x + 1": "f(int32_t x, int32_t *y)",
    "let f (x of int) returns (y): y = x": "f(int32_t x, int32_t *y)",
    "let f (x of [4]int) returns (y): y = !x": "f(const int32_t x[4], int32_t y[4])",
    "let f (x of [4]int) returns (y): y = x with [0] = 1": "f(const int32_t x[4], int32_t y[4])",
    "let f (x of [_]int) returns (y): y = x with [0] = 1": "f(int64_t n, const int32_t *x, int32_t *y)",
    # in place where the interface says so; scalars never are
    "let f (x of [4]int at 'l) returns (y at 'l): y = x with [0] = 1": "f(int32_t x[4])",
    "let f (x of int at 'l) returns (y at 'l): y = x + 1": "f(int32_t x, int32_t *y)",
    "let f (x of [4]int) returns (y at x): y = x with [0] = 1": "f(int32_t x[4])",
    # records are their fields
    "type p = { re of f32, im of f32 }\nlet f (z of p) returns (w of p): w = p(z.im + 0.0, z.re + 0.0)": "f(float z_re, float z_im, float *w_re, float *w_im)",
}  # fmt: skip


@pytest.mark.parametrize("source", SIGNATURES)
def test_signatures_follow_from_the_interface(source: str) -> None:
    assert heads(source)["run"] == SIGNATURES[source]


STATES = {
    "let f (x of int) returns (y): y init 0 = last y + x": "f_step(f_state *self, int32_t x, int32_t *y)",
    "let f (x of int) returns (y): s init 0 = last s + x; y = s + 1": "f_step(f_state *self, int32_t x, int32_t *y)",
    "let f (x of [3]int) returns (y): y = !last (!x init [_]0)": "f_step(f_state *self, const int32_t x[3], int32_t y[3])",
    "let f (x of [3]int) returns (y): y init [_]0 = !x": "f_step(f_state *self, const int32_t x[3], int32_t y[3])",
}


@pytest.mark.parametrize("source", STATES)
def test_the_step_of_a_node_too(source: str) -> None:
    assert heads(source)["step"] == STATES[source]


@pytest.mark.parametrize("source", [*SIGNATURES, *STATES])
@pytest.mark.parametrize("options", [Options(), Options(static=True, index="int32_t", prefix="p_", restrict=True)], ids=["plain", "options"])
def test_public_functions_give_what_the_oracle_gives(source: str, options: Options) -> None:
    op, rng = last(source), random.Random(3)
    sizes = pick_sizes(op, rng)
    inputs = random_inputs(op, sizes, rng, 3)
    found = Caller(op, (), sizes, options).run(inputs, TARGETS["gcc"], ["-O1"])
    assert same(found, by_oracle(op, sizes, inputs))


WRAPS = """
let later (x of int) returns (b of bool): y = x + 1; b = y > x
let square (x of u16) returns (y): y = x * x
let sum (x of i64, y of i64) returns (z): z init 9223372036854775807; z = last z + x*y
"""


@pytest.mark.parametrize("optimise", ["-O0", "-O2"])
def test_integers_wrap_without_fwrapv(optimise: str) -> None:
    inputs = {"later": [(2**31 - 1,)], "square": [(65535,)], "sum": [(1, 1), (2**62, 4)]}
    for name, given in inputs.items():
        op = load(WRAPS).operators[name]
        args = [tuple(np.array(v, w.type.dtype.numpy)[()] for v, w in zip(row, op.graph.arguments, strict=True)) for row in given]
        found = Caller(op, (), {}).run(args, TARGETS["gcc"], [optimise, "-fsanitize=undefined", "-fno-sanitize-recover=all"])
        assert same(found, by_oracle(op, {}, args)), name


def test_sized_state_checks_its_sizes(tmp_path: Path) -> None:
    file = CFile("m", [last("let f <<n>> (x of [n+1]f64) returns (y): y = !last (!x init [_]0.0)")])
    body = "    static double kept[6], x[6], y[6];\n    f_state s;\n    if (f_init(&s, -2, kept)) return 1;\n    if (!f_init(&s, 5, kept)) return 2;\n"
    body += "    if (f_step(&s, 4, x, y)) return 3;\n    if (!f_step(&s, 5, x, y)) return 4;\n    kept[2] = 7.0;\n"
    body += "    static double other[6];\n    f_state t;\n    if (!f_init(&t, 4, other) || f_copy(&t, &s)) return 5;\n"
    body += "    if (!f_init(&t, 5, other) || !f_copy(&t, &s)) return 6;\n    return (int)other[2] - 7;\n"
    (tmp_path / "m.h").write_text(file.header())
    (tmp_path / "m.c").write_text(file.source() + f"int main(void) {{\n{body}}}\n")
    subprocess.run(["cc", *STRICT, "m.c", "-o", "m"], cwd=tmp_path, check=True)
    assert subprocess.run(["./m"], cwd=tmp_path, check=False).returncode == 0


def test_what_never_changes_is_static_const() -> None:
    source = "let lut (k of int) returns (v of int): table init [|10, 20, 30, 40|] = last table; j = clamp<<4>>(k); v = !(last table).[j]"
    file = CFile("m", [last(source)])
    assert "static const int32_t lut_table[4] = {10, 20, 30, 40};" in file.source()
    assert "table" not in file.header().split("typedef struct")[1]
    found = Caller(last(source), (), {}).run([(np.int32(k),) for k in (-3, 2, 9)], TARGETS["gcc"], [])
    assert [int(row[0]) for row in found] == [10, 30, 40]
    inner = "let g (x of [3]int) returns (s): w = [|1, 2, 4|]; forward ([a] = x) ([b] = w) returns (s = {t}): t init 0 += a*b"
    assert "static const int32_t g_w[3] = {1, 2, 4};" in CFile("m", [last(inner)]).source()
    caller = "let f (k of int) returns (v): v = lut(k) + lut(k + 1)"
    both = CFile("m", [last(source + "\n" + caller)])
    assert both.source().count("static const") == 1 and not both.state(both.exported[0])


@pytest.mark.parametrize(
    "source",
    [
        "let f (k of int) returns (v): t init [|1, 2|]; t = last t with [0] = !k; v = !t",  # written later
        "let f (c of bool) returns (v): t init [|1, 2|]; if c then t = last t else t = !reverse(!last t) end; v = !t",
        "let f (c of bool) returns (v): if c then a = [|1, 2|] else a = [|3, 4|] end; v = !reverse(a)",  # two constants in one cell
    ],
)
def test_what_changes_is_no_table(source: str) -> None:
    assert "static const" not in CFile("m", [last(source)]).source()


def test_only_what_was_asked_for_is_visible(tmp_path: Path) -> None:
    source = "let a (x of int) returns (y): y = x + 1\nlet b (x of int) returns (y): y = a(a(x))\nlet c (x of int) returns (y): y init 0 = last y + b(x)"
    nd = module(source)
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"a", "b", "c_init", "c_reset", "c_step"}),
        ({"only": ["c"]}, {"c_init", "c_reset", "c_step"}),
        ({"only": ["b"], "prefix": "ctl_"}, {"ctl_b"}),
    ]
    for options, wanted in cases:
        file = nd.c_file(**options)
        made = strict_compile(file.source(), file.header(), "madl", tmp_path)
        names = subprocess.run(["nm", "-g", "--defined-only", made.name], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert {line.split()[-1] for line in names.splitlines()} == wanted


def test_needs_are_the_same_in_c_and_python() -> None:
    source = "let smooth <<n>> (x of [n+2]f32) returns (y of [n]f32): t = !x; forward ([w] = window<<3>>(t)) returns (y = [v]): [|a,b,c|] = w; v = (a+b+c)/3.0"
    header = CFile("m", [last(source)]).header()
    assert re.findall(r"needs (.*)", header) == ["n >= 0"]
    with pytest.raises(Error) as caught:
        module(source).smooth(np.zeros(1, "f4"))
    assert "needs n >= 0, but n is -1" in str(caught.value)


def test_narrow_indices_are_proved_or_refused() -> None:
    row = "let f (a of [{n}]int) returns (b): forward ([x] = a) returns (b = [y]): y = x + 1"
    with pytest.raises(Error) as caught:
        CFile("m", [last(row.format(n=40000))], Options(index="int16_t")).header()
    assert "do not fit in int16_t" in str(caught.value)
    assert "for (int16_t idx" in CFile("m", [last(row.format(n=30000))], Options(index="int16_t")).source()
    header = CFile("m", [last("let f (a of [_][_]int) returns (b): b = !transpose(a)")], Options(index="int32_t")).header()
    assert "(double)(n) * (double)(m)" in header and "<= 2147483647.0" in header
    for wrong in ("uint8_t", "foo", "int8_t"):
        with pytest.raises(Error) as caught:
            module(row.format(n=3)).f.c(index=wrong)
        assert caught.value.code == "E0960"


def test_subscripts_are_strides() -> None:
    source = "let f (a of [_][_][_]int) returns (b): b = !transpose(a)"
    assert "b[(idx * k + idx_1) * n + idx_2] = a[(idx_1 * m + idx) * n + idx_2];" in CFile("m", [last(source)]).source().replace("  ", "")


def test_no_operator_is_left_out_silently(tmp_path: Path) -> None:
    source = """
let rev (a at 'l) returns (b at 'l): b = !reverse (!a)
let patt turn (a) returns (b): b = reverse(a)
let rec s <<n>> (x of [n]f64) returns (t of f64): if n == 1 then [|a|] = x; t = !a else (l of [n/2]_) ++ h = x; t = s<<n/2>>(l) + s<<n-n/2>>(h) end
let use (a of [4]int) returns (b): b = !a
"""
    nd = module(source)
    assert list(nd.left_out()) == ["rev", "turn", "s"]
    with pytest.raises(Error) as caught:
        nd.export_c(tmp_path, only=["rev"])
    assert caught.value.code == "E0965"


# -- a small part of `make test-firmware` (tests/madl/firmware.py)


@pytest.mark.parametrize("target", [t.name for t in available()])
def test_back_to_back_on_every_target(target: str) -> None:
    for name in ("P17", "W"):
        op, rng = last(ACCEPTED[name] if name in ACCEPTED else WRAPS), random.Random(5)
        sizes = pick_sizes(op, rng)
        inputs = random_inputs(op, sizes, rng, 2)
        found = Caller(op, tuple(default_types(op).values()), sizes).run(inputs, TARGETS[target], ["-Os"])
        assert same(found, by_oracle(op, sizes, inputs))


def test_no_required_rule_of_misra_is_broken(tmp_path: Path) -> None:
    file = CFile("m", [last(ACCEPTED["P2"]), last(WRAPS)])
    (tmp_path / "m.h").write_text(file.header())
    (tmp_path / "m.c").write_text(file.source())
    found = broken_rules(tmp_path / "m.c")
    if found is None:
        pytest.skip("there is no cppcheck with its MISRA addon")
    assert set(found) <= advisory_rules()


def test_the_example_uses_what_the_header_says(tmp_path: Path) -> None:
    file = CFile("m", [last("let f <<n>> (x of [n]f64) returns (y): y = !last (!x init [_]0.0)")])
    program = strict_compile(file.source(), file.header(), "m", tmp_path, example=example(file))
    assert subprocess.run([str(program)], check=False).returncode == 0
