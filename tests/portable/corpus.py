"""Every function of the corpus (tools/corpus.py) with bits="portable": the same bytes, or the same error, from every way of computing it. `make portable`.

    python -m tests.portable.corpus [--jobs 2] [--seconds 3000] [--only WORD ...] [--ways="as usual,-O1,emulated"]

With ATOLL_TEST_CUDA=1 a GPU is one of the ways. A NaN is one value (docs/bits.md), so NaNs are made one before bytes are compared. Functions that are refused by a way are counted.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import atoll as at
from atoll.runtime.cuda.devices import EMULATED
from atoll.types.types import flatten, shape_of
from tests.cuda.corpus import _arguments, bounded
from tests.cuda.in_turn import answer, ask, told
from tests.fuzz.stages import leaves
from tools.corpus import modules

SIZES = (5, 300, 1)  # of everything; those after the first only where what was before was quick
PATIENCE = 60  # seconds for one function
PLAIN = "-march=x86-64 -mtune=generic"  # no fma, no AVX


@contextlib.contextmanager
def environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _compiled(optimise: str, **values: str) -> Callable[[at.Function, list[Any]], Any]:
    def run(f: at.Function, args: list[Any]) -> Any:
        f.refresh()
        with environment(ATOLL_FIRST="0", **values):
            found = f.compile(optimise).call(*args)
        f.refresh()
        return found

    return run


WAYS: dict[str, Callable[[at.Function, list[Any]], Any]] = {
    "as usual": _compiled("3"),
    "any x86": _compiled("2", ATOLL_CFLAGS=PLAIN),
    "-O1": _compiled("1"),
    "-O0": _compiled("0", ATOLL_CFLAGS=PLAIN),
    "clang": _compiled("3", ATOLL_CC="clang"),
    "emulated": lambda f, args: f.on(EMULATED)(*args),
    "cuda": lambda f, args: f.on("cuda")(*args),
    "interpreter": lambda f, args: f.interpret(*args),
}
"""How a function is computed."""


def bytes_of(value: Any) -> list[tuple[str, tuple[int, ...], bytes]]:
    """The leaves of a result, NaNs made one."""
    out = []
    for leaf in leaves(value):
        x = np.array(leaf)
        if x.dtype.kind in "fc" or x.dtype.name == "bfloat16":
            parts = x.view(x.real.dtype) if x.dtype.kind == "c" and x.ndim else np.stack([x.real, x.imag]) if x.dtype.kind == "c" else x
            x = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts)
        out.append((x.dtype.name, x.shape, np.ascontiguousarray(x).tobytes() if x.dtype.kind != "O" else repr(leaf).encode()))
    return out


def outcome(way: str, f: at.Function, args: list[Any]) -> tuple[str, Any]:
    try:
        return "value", bytes_of(WAYS[way](f, args))
    except at.Error as error:
        return "error", error.code


def portable(f: at.Function) -> at.Function:
    return f.with_options(dataclasses.replace(f.options, bits="portable"))


def tried(f: at.Function, ways: list[str]) -> str:
    """In a word how it went; what is wrong is told in more."""
    if f.signature.is_generic:
        return "generic"
    p = portable(f)
    word = "no arguments"
    refused: list[str] = []
    for size in SIZES:
        if size > 100 and max((len(shape_of(t)[0]) for _, given in p.core.params for _, t in flatten(given)), default=0) > 1:
            continue
        args = _arguments(p, size)
        if args is None:
            continue
        begun = time.monotonic()
        expected = outcome(ways[0], p, args)
        if expected == ("error", "E0839"):
            return "refused"
        if expected[0] == "error" and expected[1] in ("E0803", "E0829"):
            return f"WRONG {expected[1]}"
        for way in ways[1:]:
            if way == "interpreter" and size > 5 and time.monotonic() - begun > 5:
                continue
            if way in refused:
                continue
            found = outcome(way, p, args)
            if found == ("error", "E0838"):
                refused.append(way)
            elif found != expected:
                return f"WRONG {way} at size {size}: {_difference(expected, found)}"
        word = "right" if not refused else f"{'right, ' if len(refused) < len(ways) - 1 else ''}refused by {' and '.join(refused)}"
        if time.monotonic() - begun > 6.0:
            break
    return word


def _difference(expected: tuple[str, Any], found: tuple[str, Any]) -> str:
    if expected[0] != "value" or found[0] != "value":
        return f"{expected[1] if expected[0] == 'error' else 'a value'}, not {found[1] if found[0] == 'error' else 'a value'}"
    for (t, s, x), (u, r, y) in zip(expected[1], found[1], strict=True):
        if (t, s, x) != (u, r, y):
            if (t, s) != (u, r) or t in ("bfloat16", "object"):
                return f"{t}{s} against {u}{r}"
            a, b = np.frombuffer(x, t), np.frombuffer(y, t)
            k = next((k for k in range(len(a)) if a[k : k + 1].tobytes() != b[k : k + 1].tobytes()), 0)
            return f"{t}{s}: {sum(p.tobytes() != q.tobytes() for p, q in zip(a, b, strict=True))} differ, first {a[k]!r} and {b[k]!r} at {k}"
    return "?"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.portable.corpus", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3000)
    parser.add_argument("--only", nargs="*", default=[])
    missing = {w for w, there in (("clang", shutil.which("clang")), ("cuda", os.environ.get("ATOLL_TEST_CUDA"))) if not there}
    known = [w for w in WAYS if w not in missing]
    parser.add_argument("--ways", type=lambda text: text.split(","), default=known)  # one word, because some begin with a dash
    parser.add_argument("--till", type=float)
    options = parser.parse_args()
    if options.till is not None:
        bounded()
        answer(lambda f: tried(f, options.ways), options.till, PATIENCE)
        return 0
    command = [sys.executable, "-W", "ignore", "-m", "tests.portable.corpus", "--till", str(time.time() + options.seconds), f"--ways={','.join(options.ways)}"]
    return told(ask(command, modules(options.only), options.jobs), f"by {', '.join(options.ways)}")


if __name__ == "__main__":
    sys.exit(main())
