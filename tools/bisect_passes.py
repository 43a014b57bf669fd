"""Which rewrite makes a result wrong: `python tools/bisect_passes.py FILE.py:FUNCTION [--size n=17]`

The function is compiled with the first 0, 1, 2, ... rewrites of loops (ATOLL_PASSES) by halving, called with random arguments of the sizes given,
and compared with the reference interpreter. Prints the first rewrite after which they differ, and what it did to the loops. With `--same`
the function's own result without rewrites is what others are compared with, bit for bit: to see which rewrite changes the last bits.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from atoll.command_data import random_arguments
from atoll.command_files import one, sizes_of
from atoll.loops.optimise import PASSES
from atoll.runtime.program import Program


def result(f: Any, arguments: list[Any], passes: int) -> Any:
    os.environ["ATOLL_PASSES"] = str(passes)
    return Program(f.core, f._arguments).call(*arguments)


def same(a: Any, b: Any, exact: bool) -> bool:
    """Equal bits, or equal up to rounding, in every part of a result."""
    if isinstance(a, tuple):
        return all(same(x, y, exact) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dataclass_fields__"):
        return all(same(getattr(a, name), getattr(b, name), exact) for name in a.__dataclass_fields__)
    x, y = np.asarray(a), np.asarray(b)
    if exact or x.dtype.kind not in "fc":
        return x.tobytes() == y.tobytes()
    tolerance = 1e-4 if x.dtype.itemsize <= 4 else 1e-9
    return bool(np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True))


def first_wrong(f: Any, arguments: list[Any], exact: bool) -> int | None:
    """The number of the first rewrite after which the result is another one; None when there is none."""
    wanted = result(f, arguments, 0) if exact else f.interpret(*arguments)

    def wrong(passes: int) -> bool:
        return not same(result(f, arguments, passes), wanted, exact)

    if wrong(0):
        return 0
    if not wrong(len(PASSES)):
        return None
    right, bad = 0, len(PASSES)
    while bad - right > 1:
        middle = (right + bad) // 2
        right, bad = (right, middle) if wrong(middle) else (middle, bad)
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("function", metavar="FILE.py:FUNCTION")
    parser.add_argument("--size", action="append", default=[], metavar="n=17")
    parser.add_argument("--same", action="store_true", help="compare bits with the program without rewrites")
    args = parser.parse_args()
    f = one(args.function)
    arguments = random_arguments(f, sizes_of(args.size))
    found = first_wrong(f, arguments, args.same)
    os.environ.pop("ATOLL_PASSES", None)
    if found is None:
        print(f"{f.name}: all {len(PASSES)} rewrites keep the result")
        return 0
    if found == 0:
        print(f"{f.name}: the result is wrong without any rewrite of loops: the mistake is earlier (f.show('loops')) or in the C compiler")
        return 1
    p = PASSES[found - 1]
    print(f"{f.name}: wrong after rewrite {found}, {p.name} (ATOLL_PASSES={found - 1} is right)")
    for part in f.show("passes").split("\n\n-- "):
        if part.lstrip("- ").startswith(f"{found} "):
            print(f"-- {part.removeprefix('-- ')}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
