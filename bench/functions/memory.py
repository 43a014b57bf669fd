"""Memory of long runs: 10^8 steps that allocate, in the memory of one round; every block given back, says valgrind.

    python -m bench.functions.memory        the run of 10^8 steps, then valgrind on a shorter one

For valgrind the program's C gets a `main` of its own, so that nothing but it is looked at.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import atoll as at
from atoll import i64
from atoll.functions.native_text import generate
from atoll.functions.program import c_flags, compiled
from atoll.runtime.toolchain import compiler
from atoll.std import maps
from atoll.std.lists import Cons, List, Nil, fold_left, map_list
from atoll.std.maps import Empty, Map


@at.fn
def numbers(k: i64, xs: List[i64]) -> List[i64]:
    """1 to k, then xs."""
    return xs if k == 0 else numbers(k - 1, Cons(k, xs))


@at.fn
def lists(rounds: i64, size: i64) -> i64:
    """A list built, mapped by a function that is chosen at run time, and summed; again and again."""
    total = 0
    for r in range(rounds):
        f = (lambda x: x + r) if r % 2 == 0 else (lambda x: 2 * x)
        total = total + fold_left(lambda p, q: p + q, 0, map_list(f, numbers(size, Nil())))
    return total


@at.fn
def tables(rounds: i64, size: i64) -> i64:
    """A persistent map that grows and shrinks."""
    m: Map[i64, i64] = Empty()
    x = 1
    for r in range(rounds):
        x = (x * 1103515245 + 12345) % 2147483648
        m = maps.put(m, x % size, r) if r % 3 != 2 else maps.remove(m, x % size)
    return maps.size(m)


_MAIN = """
#include <stdio.h>
static void *plain_alloc(int64_t bytes) { return malloc(bytes > 0 ? (size_t)bytes : 1); }
static void plain_release(void *block) { free(block); }
int main(void) {
    static const at_runtime runtime = {.alloc = plain_alloc, .release = plain_release};
    atoll_init(&runtime);
    int64_t words[] = {WORDS};
    at_exchange x = {.words = words};
    at_call call = {0};
    int status = atoll_call(&call, &x);
    long long value = status == 0 && x.out_count > 0 ? (long long)x.out[0] : 0;
    atoll_done(&x);
    if (at_kept.base) munmap(at_kept.base, at_kept.size);
    printf("%d %lld %lld\\n", status, value, (long long)x.live);
    return status != 0 || x.live != 0;
}
"""


def standalone(fn: Any, args: tuple[int, ...], folder: Path) -> Path:
    """A program that calls a function of whole numbers and prints status, value and how many cells are left."""
    program, tables_ = compiled(fn.core)
    text = generate(program, tables_, counters=True).text + _MAIN.replace("WORDS", ", ".join(map(str, args)))
    source, out = folder / "whole.c", folder / "whole"
    source.write_text(text)
    flags = [f for f in compiler().flags("1") if f not in ("-shared", "-march=native")]
    subprocess.run([*compiler().command, *flags, *c_flags(), "-g", "-o", str(out), str(source), "-lm", "-lpthread"], check=True)
    return out


def valgrind(fn: Any, args: tuple[int, ...]) -> tuple[int, str, str]:
    """Exit status (not 0 on any error or leak), what the program printed, and what valgrind says."""
    with tempfile.TemporaryDirectory() as folder:
        program = standalone(fn, args, Path(folder))
        command = ["valgrind", "--leak-check=full", "--error-exitcode=9", "-q", "--max-stackframe=8000000", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


def main() -> None:
    for f, args, steps in ((lists, (100_000, 1000), 100_000_000), (tables, (10_000_000, 10_000), 10_000_000)):
        f(2, 1000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        value = f(*args)
        took = time.perf_counter() - start
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(f"{f.name}{args} = {value}: {steps:.1e} steps in {took:.2f} s, {more} kB more memory than two rounds")
    if shutil.which("valgrind") is not None:
        for f, args in ((lists, (30, 200)), (tables, (2000, 300))):
            status, printed, said = valgrind(f, args)
            print(f"valgrind on {f.name}{args}: exit {status}, status value live = {printed.strip()}")
            if status:
                print(said)


if __name__ == "__main__":
    main()
