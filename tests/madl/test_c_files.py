"""The C of every accepted program: strict C99, nothing from outside but memcpy and mathematics, bytes as the macros say, clean under sanitizers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from atoll.errors import Error
from atoll.madl.c_example import example
from atoll.madl.c_file import CFile, Options
from atoll.madl.compiled import Compiled
from tests.madl.corpus import ACCEPTED, DOT, NAT, P, Q
from tests.madl.harness import SANITIZE, STRICT, agree, last, load, strict_compile, undefined_symbols

ALLOWED = {"memcpy", "sqrt", "_GLOBAL_OFFSET_TABLE_"}
CONCRETE = sorted(name for name, source in ACCEPTED.items() if not last(source).graph.generics and last(source).kind in ("func", "node"))


def test_every_program_compiles_strictly_and_refers_to_nothing(tmp_path: Path) -> None:
    """All of them in one file: names that meet are told apart."""
    assert len(CONCRETE) > 80
    file = CFile("all", [last(ACCEPTED[name]) for name in CONCRETE])
    made = strict_compile(file.source(), file.header(), "all", tmp_path)
    assert undefined_symbols(made) <= ALLOWED
    assert not re.search(r"\b(malloc|calloc|realloc|free|alloca)\b", file.source() + file.header())


@pytest.mark.long
@pytest.mark.parametrize("options", [Options(), Options(wrap=False), Options(static=True), Options(index="int16_t")], ids=["plain", "no wrap", "static", "int16_t"])
def test_examples_run_under_sanitizers(options: Options, tmp_path: Path) -> None:
    """The example caller calls each of them once."""
    file = CFile("all", [last(ACCEPTED[name]) for name in CONCRETE], options)
    program = strict_compile(file.source(), file.header(), "all", tmp_path, extra=SANITIZE, example=example(file))
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(CONCRETE)


# -- bytes


def _measure(file: CFile, body: str, folder: Path) -> list[int]:
    """What a C program that includes the header prints."""
    (folder / f"{file.name}.h").write_text(file.header())
    (folder / "measure.c").write_text(f'#include "{file.name}.h"\n#include <stdio.h>\nint main(void) {{\n{body}    return 0;\n}}\n')
    subprocess.run(["cc", *STRICT, "measure.c", "-o", "measure"], cwd=folder, check=True)
    return [int(v) for v in subprocess.run(["./measure"], cwd=folder, capture_output=True, text=True, check=True).stdout.split()]


MIXED = "let f (x of i8) returns (y of f64, z, w): z = !last a; a init [3]0 = [3]!x; b of f64 init 0.0 = last b + f64(x); w = !last c; c of i16 init 5 = w + i16(x); y = !b"


@pytest.mark.parametrize(
    ("source", "name", "wanted"),
    [(Q["Q3"], "fib", 8), (Q["Q37"], "c_reg", 16), (Q["Q1"], "nat", 4), (Q["Q4"], "oscillate", 8), (P["P2"], "integr", 4), (MIXED, "f", 24)],
)
def test_state_bytes_are_the_size_of_the_state(source: str, name: str, wanted: int, tmp_path: Path) -> None:
    file = CFile("m", [last(source)])
    said, measured = _measure(file, f'    printf("%d %d", (int){name.upper()}_STATE_BYTES, (int)sizeof({name}_state));\n', tmp_path)
    assert said == measured == wanted


def test_state_of_symbolic_size_is_counted_with_its_memory(tmp_path: Path) -> None:
    """The struct, and n cells for its pointer: the memory the caller gives to init."""
    file = CFile("m", [last("let f (x of [_]f64) returns (y): y = !last (!x init [_]0.0)")])
    body = '    printf("%d %d", (int)F_STATE_BYTES(10), (int)(sizeof(f_state) + 10 * sizeof(double)));\n'
    said, measured = _measure(file, body, tmp_path)
    assert said == measured


def test_workspace_bytes(tmp_path: Path) -> None:
    file = CFile("m", [last(ACCEPTED["workspace"])])
    (said,) = _measure(file, '    printf("%d", (int)TWICE_WORK_BYTES(10));\n', tmp_path)
    rows = {c.name: c for c in last(ACCEPTED["workspace"]).scheme.chunks if c.role == "workspace"}
    assert said == 40 * len(rows) and len(rows) >= 1


def _stack(op: Compiled, folder: Path) -> tuple[int, int]:
    """What the header says, and what the C compiler reports for the functions on the way (-fstack-usage, not optimised)."""
    file = CFile("m", [op])
    strict_compile(file.source(), file.header(), "m", folder, extra=["-O0", "-fstack-usage"], compiler="gcc")
    used = {line.split(":")[3].split("\t")[0]: int(line.split("\t")[1]) for line in (folder / "m.su").read_text().splitlines()}
    return file.stack_bytes(file.exported[0]), sum(used.values())


@pytest.mark.parametrize(
    "source",
    [
        "let rev (a at 'l) returns (b at 'l): b = !reverse(!a) of [{n}]int",
        "let inner (a of [{n}]int at 'l) returns (b at 'l): b = !reverse(!a)\nlet rev (a at 'l) returns (b at 'l): b = inner(inner(a))",
        "let rev (a of [{n}]int at 'l) returns (b at 'l): forward <<3>> returns (b = {{c}} init a): c = !reverse(!last c)",
    ],
)
def test_stack_grows_by_what_the_macro_says(source: str, tmp_path: Path) -> None:
    """A frame also holds what the compiler needs; that does not depend on the arrays."""
    small, large = (_stack(last(source.format(n=n)), tmp_path) for n in (40, 1040))
    assert large[0] - small[0] == 4000
    assert large[1] - small[1] == 4000
    assert small[1] >= small[0]
    assert small[1] - small[0] <= 400


def test_stack_is_counted_along_the_deepest_chain() -> None:
    source = """
let a (x of [10]int at 'l) returns (y at 'l): y = !reverse(!x)
let b (x of [10]int at 'l) returns (y at 'l): y = !reverse(!a(x))
let c (x of [10]int at 'l) returns (y at 'l): y = a(b(x))
"""
    operators = load(source).operators
    sizes = {name: CFile("m", [operators[name]]).stack_bytes(CFile("m", [operators[name]]).exported[0]) for name in "abc"}
    assert sizes["a"] == 40 and sizes["b"] == 40 + 40 and sizes["c"] == sizes["b"]


# -- what the C looks like


def test_a_node_in_c() -> None:
    file = CFile("counters", [last(NAT)])
    assert "void nat_init(nat_state *self);" in file.header()
    assert "void nat_step(nat_state *self, int32_t *n);" in file.header()
    assert "void nat_reset(nat_state *self);" in file.header()
    assert "#define NAT_STATE_BYTES (sizeof(nat_state))" in file.header()
    assert "#define NAT_STACK_BYTES 0" in file.header()


def test_names_of_the_c_library_are_avoided(tmp_path: Path) -> None:
    source = """
let times (x of f64) returns (y): y = 2.0*x
let exp (x of f64) returns (y): y = times(x) + 1.0
let main (int of f64, double of f64) returns (for_ of f64): for_ = exp(int) + double
let memcpy (x of [3]int) returns (y): y = !x
"""
    library = load(source)
    file = CFile("names", list(library.operators.values()))
    made = strict_compile(file.source(), file.header(), "names", tmp_path)
    assert undefined_symbols(made) <= {"memcpy"}
    assert "void times_(" in file.header() and "void main_(" in file.header()


NAMES = {
    "the pointer to the state": "let f (self of int) returns (y): y init 0 = last y + self",
    "a size and a value": "let f <<n>> (n of int, x of [n]int) returns (y): forward ([a] = x) returns (y = [b]): b = a + n",
    "an index and a value": "let f (i of int, x of [_]int) returns (y): forward [i] ([a] = x) returns (y = [b]): b = a + i",
    "what loops are called": "let f (idx of int, x of [_]int) returns (y): forward ([a] = x) returns (y = [b]): b = a + idx",
    "the step of another": "let f_step (x of int) returns (y): y = x + 1\nlet f (x of int) returns (y): y init 0 = last y + f_step(x)",
    "an operator and its result": DOT + "let f (u of [_]int, v) returns (dot): dot = dot(u, v)",
    "functions of mathematics": "let f (exp of f64) returns (sqrt): sqrt = exp(sqrt(exp)) + 1.0",
    "primes": "let f (x of int, x' of int, x_ of int) returns (y): y = x + x' + x_",
    "words of C": "let int (for_ of int, while of int, return of int) returns (double): double = for_ + while + return",
    "types of C": "let f (NULL of int, bool_ of int, INT_MAX of int, int32_t of int, size_t of int) returns (y): y = NULL + bool_ + INT_MAX + int32_t + size_t",
    "its own state": "let f () returns (f_state): f_state init 0 = last f_state + 1",
    "two that differ in case": "let fib () returns (n): n init 0 = last n + 1\nlet FIB () returns (n): n init 0 = last n + 2",
    "fields": "type t = { a of int, a_b of int }\nlet f (x of t, x_a of int) returns (y): y = x.a + x.a_b + x_a",
    "qualifiers": "let f (restrict of [3]int, inline of [3]int) returns (static of [3]int): forward ([a]=restrict)([b]=inline) returns (static=[c]): c = a + b",
    "the copy": "let f (memcpy of [3]int) returns (y of [3]int): y = !memcpy",
    "support functions": "let madl_div (a of int, madl_div_i32 of int) returns (y): y = a / madl_div_i32",
    "a support function": "let madl_div_i32 (a of int, b of int) returns (y): y = a / b",
    "a size that is the state": "let f <<self>> (x of [self]int) returns (y): y = !last (!x init [_]0)",
    "a macro": "let f (F_STACK_BYTES of int) returns (y): y = F_STACK_BYTES + 1",
    "comparing with itself": "let f (x of int) returns (a, b): a = x < x; b = x + 1 == x + 1",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_never_meet(name: str, tmp_path: Path) -> None:
    operators = list(load(NAMES[name]).operators.values())
    file = CFile("m", operators)
    strict_compile(file.source(), file.header(), "m", tmp_path)
    agree(operators[-1])


def test_the_header_is_c_plus_plus_too(tmp_path: Path) -> None:
    file = CFile("m", [last(Q["Q3"]), last(P["P1"])])
    (tmp_path / "m.h").write_text(file.header())
    (tmp_path / "use.cpp").write_text('#include "m.h"\nint main() { fib_state s; int n; fib_init(&s); fib_step(&s, &n); return n; }\n')
    done = subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", "-c", "use.cpp"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_empty_arrays_in_c(tmp_path: Path) -> None:
    source = "let f (a of [0]int at 'l, m of [0][3]int) returns (b at 'l, s of [0][3]int): b = !!reverse(a); s = !m"
    file = CFile("m", [last(source)])
    program = strict_compile(file.source(), file.header(), "m", tmp_path, extra=SANITIZE, example=example(file))
    assert subprocess.run([str(program)], check=False).returncode == 0


def test_static_state_needs_a_number(tmp_path: Path) -> None:
    source = "let f (x of [_]f64) returns (y): y = !last (!x init [_]0.0)"
    with pytest.raises(Error) as caught:
        CFile("m", [last(source)], Options(static=True)).source()
    assert caught.value.code == "E0965"
    assert "cannot be static" in str(caught.value)


def test_generic_operators_have_no_c_alone() -> None:
    with pytest.raises(Error) as caught:
        CFile("m", [last(Q["Q10"])])
    assert caught.value.code == "E0963"


def test_wrapping_integers(tmp_path: Path) -> None:
    """Overflow is defined on any compiler; undefined-behaviour sanitizers agree."""
    source = "let f (x of int) returns (y): s init 2147483647 = last s + x; y = !s"
    file = CFile("m", [last(source)])
    body = "    f_state s; int32_t y;\n    f_init(&s); f_step(&s, 1, &y);\n    printf(\"%d\", (int)y);\n"
    (tmp_path / "m.h").write_text(file.header())
    (tmp_path / "m.c").write_text(file.source() + f"#include <stdio.h>\nint main(void) {{\n{body}    return 0;\n}}\n")
    subprocess.run(["cc", *STRICT, *SANITIZE, "m.c", "-o", "m"], cwd=tmp_path, check=True)
    done = subprocess.run(["./m"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "-2147483648"




def test_elements_are_not_read_again_behind_a_write() -> None:
    """C compilers must think that `n[0][0] = ..` may change m; by hand one reads m first."""
    source = (Path(__file__).parents[2] / "bench" / "firmware" / "kernels.madl").read_text()
    text = CFile("inverse", [load(source).operators["inverse"]]).source()
    assert text.count("m[") - text.count("m[3][3]") == 9
    op = last("let f (m of [2]int) returns (a of [3]int): a = [|m.[0] + 1, m.[1] + m.[0], m.[0]*m.[1]|]")
    agree(op)
    assert "const int32_t m_0 = m[0]" in CFile("f", [op]).source()
