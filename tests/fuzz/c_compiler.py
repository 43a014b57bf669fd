"""Nests of loops as random C: python -m tests.fuzz.c_compiler [--cc gcc] [--seeds 0:20] [--plain]

Every function is two nested loops over arrays that do not overlap, with places that are sums of the indices: what the analysis of dependences in a C compiler is for.
Others have a few sums, products, least and greatest values or places of them for every row, on conditions: what is made of vectors and masks of them.
A file of a hundred is compiled with the options that programs get (`--plain`: without those that runtime/probes.py adds) and without optimisation; the results must
be the same. A difference is a bug of the C compiler: the function goes to atoll/runtime/native/probes/ with the option that is to blame.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
from pathlib import Path

HEAD = """#include <stdint.h>
#include <stdio.h>
#define N 8192
#define at_order() __asm__ volatile("" ::: "memory")
static uint64_t bits(double x) { uint64_t to; __builtin_memcpy(&to, &x, 8); return x != x ? 1 : to; }
#define BITS(x) _Generic((x), double: bits((double)(x)), float: bits((double)(x)), default: (uint64_t)(x))
"""
ARRAYS = "abc"
STORE = re.compile(r"[abc]\[([^\]]*)\]\+?=[^=]")
PER_FILE = 100


def place(r: random.Random, inner: str, outer: str) -> str:
    """A place that stays inside: i and j are below 70, factors at most 3, so places stay below 8192."""
    kind = r.randrange(10)
    shift = r.choice([0, 0, 1, 2, 3, 4, 8, 16, 17])
    if kind < 3:
        return f"{inner} + {shift}"
    if kind < 5:
        return f"{inner} + {outer} + {shift}"
    if kind < 6:
        return f"{inner} - {outer} + {70 + shift}"
    if kind < 7:
        return f"{r.randint(1, 3)} * {inner} + {r.randint(0, 3)} * {outer} + {shift}"
    if kind < 8:
        return f"{outer} * m + {inner}"
    if kind < 9:
        return f"(n - {outer} - 1) * m + {inner}"
    return f"{outer} + {shift}"


def value(r: random.Random, names: list[str], inner: str, outer: str) -> str:
    kind = r.randrange(6)
    if kind == 0:
        return r.choice(["0", "1", "3"])
    if kind == 1 and names:
        return r.choice(names)
    read = f"{r.choice(ARRAYS)}[{place(r, inner, outer)}]"
    if kind < 4:
        return read
    other = r.choice([*names, f"{r.choice(ARRAYS)}[{place(r, inner, outer)}]", "1"])
    return f"{read} {r.choice('+-')} {other}"


INTEGERS = ["int64_t", "int32_t", "int16_t", "int8_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"]


def near(r: random.Random) -> str:
    """An element near the j-th of a row of the array or of the array itself, or one that all rounds share."""
    x = r.choice(ARRAYS)
    width = r.randint(1, 4)
    return f"{x}[" + r.choice(["j", "j", f"j + {r.randint(1, 3)}", f"{width} * j + {r.randrange(width)}", "i * m + j", f"i + {r.randrange(3)}", "m + 70 - j", "j / 2", "j & 7"]) + "]"


def test_of(r: random.Random, element: str) -> str:
    """A condition."""
    x, kind = near(r), r.randrange(6)
    if kind == 0 and element in INTEGERS:
        bit = f"(({element})1 << (j & 7))"
        return r.choice([f"({x} & {bit}) == {bit}", f"({x} & {bit}) != 0", f"(({x} >> (j & 3)) & 1)", f"({x} & 3) == {r.randrange(4)}"])
    if kind == 1:
        return f"{near(r)} {r.choice(['==', '!=', '<', '>=', '<=', '>'])} {x}"
    if kind == 2:
        return f"{x} > {r.randrange(3)} {r.choice(['&&', '||', '&', '|'])} {near(r)} < {r.randrange(3, 9)}"
    if kind == 3:
        return r.choice(["j > i", "j != i", "(j & 1)", "j % 3 == 1", f"!({x} <= {r.randrange(4)})", f"{x} != {x}"])
    return f"{x} {r.choice(['==', '!=', '<', '>=', '<=', '>'])} {r.randrange(8)}"


def term(r: random.Random, element: str) -> str:
    """What is added: within what conversions are defined for."""
    x, y, kind = near(r), near(r), r.randrange(11)
    whole = element in INTEGERS
    if kind == 0:
        return f"{x} {r.choice('+-*')} {y}"
    if kind == 1:
        return f"({x} < {y} ? {x} : {y})"
    if kind == 2:
        return f"({test_of(r, element)} ? {x} : {r.choice([y, '0', '1'])})"
    if kind == 3:
        return f"({x} > -9 && {x} < 99 ? ({r.choice(INTEGERS)})({x} + 9) : 7)" if not whole else f"({r.choice(INTEGERS)}){x}"
    if kind == 4:
        return f"({r.choice(['float', 'double'])}){x} * 0.5f" if not whole else f"{x} {r.choice('/%')} {r.choice([2, 3, 7, 8])}"
    if kind == 5:
        return r.choice([f"({x} < 0 ? -{x} : {x})", f"({test_of(r, element)})", f"(({test_of(r, element)}) + ({test_of(r, element)}))"])
    if kind == 6 and whole:
        return r.choice([f"({x} ^ {y})", f"({x} & {y})", f"({x} >> 1)", f"({element})((uint64_t){x} << (j & 7))"])
    return x


def kept(r: random.Random, k: int, element: str, names: list[str]) -> list[str]:
    """Statements that bring a round's value into a variable."""
    v, kind = f"({element})({term(r, element)})" if element in INTEGERS else term(r, element), r.randrange(9)
    test = f"if ({test_of(r, element)}) " if r.random() < 0.4 else ""
    if kind < 4:
        return [f"{test}s{k} += {v};"]
    if kind == 4:
        return [f"{test}s{k} {r.choice(['-=', '*=' if element in INTEGERS else '-='])} {v};"]
    if kind < 7:
        sign = r.choice("<>")
        if names and r.random() < 0.5:  # and where it was
            return [f"{{ const {element} v = {v}; if (v {sign}{r.choice(['', '='])} s{k}) {{ s{k} = v; {names[0]} = j; }} }}"]
        return [f"{test}{{ const {element} v = {v}; s{k} = v {sign} s{k} ? v : s{k}; }}"]
    if kind == 7 and k:
        return [f"{test}{{ s{k} += {v}; s{k - 1} += {near(r)}; }}"]
    return [f"{test}s{k} = {v};"]


def sums(r: random.Random, number: int, element: str) -> list[str]:
    """A few values of every row, and what they are made of in one loop; some rounds store, too."""
    count = r.randint(1, 4)
    lines = ["    for (int64_t i = 0; i < n; i++) {", f"        int64_t place{number} = -1;"]
    lines += [f"        {element} s{k} = {r.choice(['0', '0', '1', near(r).replace('j', '1')])};" for k in range(count)]
    lines.append(f"        for (int64_t j = {r.choice(['0', '0', '0', '1', 'i'])}; j < {r.choice(['m', 'm', 'm', 'i + 1', '8', '30', '64'])}; j++) {{")
    stored = r.random() < 0.2
    for k in range(count):
        lines += ["            " + text for text in kept(r, k, element, [f"place{number}"])]
    if stored:
        lines.append(f"            c[{r.choice(['j', 'i * m + j', 'j + 1'])}] = {r.choice([f's{count - 1}', near(r)])};")
    lines.append("        }")
    lines += [f"        {r.choice(ARRAYS)}[{count} * i + {k}] {r.choice(['=', '=', '+='])} s{k};" for k in range(count)]
    return [*lines, f"        c[i] += ({element})place{number};", "    }", "}"]


def function(seed: int, number: int, plain: bool = False) -> str:
    r = random.Random(seed * 1000 + number)
    if r.random() < 0.5:
        element = r.choice(["double", "float", *INTEGERS])
        params = ", ".join(f"{element} *restrict {x}" for x in ARRAYS)
        head = f"__attribute__((noinline)) void f{number}(int64_t n, int64_t m, {params}) {{"
        return "\n".join([head, *sums(r, number, element)]) + "\n" + _call(number, element)
    element = r.choice(["double", "double", "float", "int64_t", "int32_t", "uint8_t"])
    params = ", ".join(f"{element} *restrict {x}" for x in ARRAYS)
    lines = [f"__attribute__((noinline)) void f{number}(int64_t n, int64_t m, {params}) {{"]
    bound = r.choice(["m", "m", "8", "16", "64"])
    low = r.choice(["0", "0", "1", "i"])
    lines.append("    for (int64_t i = 0; i < n; i++) {")
    if r.random() < 0.3:
        lines.append(f"        {r.choice(ARRAYS)}[{place(r, 'i', '0')}] = {value(r, [], 'i', '0')};")
    lines.append(f"        for (int64_t j = {low}; j < {bound}; j++) {{")
    names: list[str] = []
    for k in range(r.randint(1, 5)):
        form = r.random()
        if form < 0.25:  # taken out of one place and put to another, as where arrays are swapped, cleared or carried on
            source, at = r.choice(ARRAYS), place(r, "j", "i")
            lines.append(f"            {r.choice(ARRAYS)}[{r.choice(['j', 'j', place(r, 'j', 'i')])}] = {source}[{at}];")
            lines.append(f"            {source}[{at}] = {r.choice(['0', '0', value(r, names, 'j', 'i')])};")
        elif form < 0.5:
            lines.append(f"            const {element} t{k} = {value(r, names, 'j', 'i')};")
            names.append(f"t{k}")
        else:
            test = f"if ({r.choice(ARRAYS)}[{place(r, 'j', 'i')}] > {r.randrange(4)}) " if r.random() < 0.15 else ""
            lines.append(f"            {test}{r.choice(ARRAYS)}[{place(r, 'j', 'i')}] {r.choice(['=', '=', '=', '+='])} {value(r, names, 'j', 'i')};")
    if not plain and any(set("ij") <= set(at) and "*m" not in at for line in lines for at in STORE.findall(line.replace(" ", ""))):
        lines.insert(2, "        at_order();")  # as atoll/backends/c/loop_text.py does
    lines += ["        }", "    }", "}"]
    return "\n".join(lines) + "\n" + _call(number, element)


def _call(number: int, element: str) -> str:
    return f"""static uint64_t run{number}(int64_t n, int64_t m) {{
    static {element} a[N], b[N], c[N];
    for (int k = 0; k < N; k++) a[k] = k % 13, b[k] = k % 7 + 1, c[k] = k % 5;
    f{number}(n, m, a, b, c);
    uint64_t seen = 0;
    for (volatile int k = 0; k < N; k++) seen = seen * 31 + BITS(a[k]) * 7 + BITS(b[k]) * 5 + BITS(c[k]);
    return seen;
}}"""


def file(seed: int, functions: int = PER_FILE, plain: bool = False) -> str:
    calls = "".join(
        f'    for (int k = 0; k < 8; k++) printf("{n} %d %llu\\n", k, (unsigned long long)run{n}(ns[k], ms[k]));\n' for n in range(functions)
    )
    sizes = "    const int64_t ns[8] = {0, 1, 2, 3, 17, 33, 8, 66}, ms[8] = {5, 1, 9, 33, 16, 39, 38, 65};\n"
    return "\n".join([HEAD, *(function(seed, n, plain) for n in range(functions)), f"int main(void) {{\n{sizes}{calls}    return 0;\n}}\n"])


def wrong_in(seed: int, plain: bool = False, optimise: str = "3", functions: int = PER_FILE) -> list[int]:
    """The functions of a seed's file that optimisation changes."""
    from atoll.runtime.probes import mending
    from atoll.runtime.toolchain import compiler, started

    cc = compiler()
    flags = [f for f in [*cc.flags(optimise), *([] if plain else mending(cc, optimise))] if f != "-shared"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "f.c").write_text(file(seed, functions, plain))
        printed = []
        for level, options in (("0", ["-O0", "-fwrapv", "-ffp-contract=off", "-w", "-std=gnu11"]), (optimise, flags)):
            status, text = started([*cc.command, *options, str(folder / "f.c"), "-o", str(folder / level), "-lm"], 300)
            assert status == 0, text
            status, text = started([str(folder / level)], 100)
            assert status == 0, f"seed {seed} -O{level}: ended with {status}"
            printed.append(text.splitlines())
    return sorted({int(x.split()[0]) for x, y in zip(*printed, strict=True) if x != y})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.c_compiler", description=__doc__)
    parser.add_argument("--cc", help="the compiler (ATOLL_CC)")
    parser.add_argument("--seeds", default="0:20")
    parser.add_argument("--plain", action="store_true", help="without the options that mend what is known")
    parser.add_argument("--show", action="store_true", help="print the functions that are wrong")
    options = parser.parse_args()
    if options.cc:
        os.environ["ATOLL_CC"] = options.cc
    low, _, high = options.seeds.partition(":")
    bad = 0
    for seed in range(int(low), int(high)):
        for number in wrong_in(seed, options.plain):
            bad += 1
            print(f"seed {seed}: f{number} is wrong")
            if options.show:
                print(function(seed, number).split("static uint64_t")[0])
        sys.stdout.flush()
    print(f"{(int(high) - int(low)) * PER_FILE} functions, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
