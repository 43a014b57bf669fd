"""Nests of loops as random C: python -m tests.fuzz.c_compiler [--cc gcc] [--seeds 0:20] [--plain]

Every function is two nested loops over arrays that do not overlap, with places that are sums of the indices: what the analysis of dependences in a C compiler is for.
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


def function(seed: int, number: int, plain: bool = False) -> str:
    r = random.Random(seed * 1000 + number)
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
    call = f"""static uint64_t run{number}(int64_t n, int64_t m) {{
    static {element} a[N], b[N], c[N];
    for (int k = 0; k < N; k++) a[k] = k % 13, b[k] = k % 7 + 1, c[k] = k % 5;
    f{number}(n, m, a, b, c);
    uint64_t seen = 0;
    for (volatile int k = 0; k < N; k++) seen = seen * 31 + BITS(a[k]) * 7 + BITS(b[k]) * 5 + BITS(c[k]);
    return seen;
}}"""
    return "\n".join(lines) + "\n" + call


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
        for level, options in (("0", ["-O0", "-fwrapv", "-w", "-std=gnu11"]), (optimise, flags)):
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
