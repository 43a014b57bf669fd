"""The cost of the reverse derivative of every function of examples/ and bench/ that has one, beside the function's own (tests/cost/ratio.py).

    python -m tests.cost.everything [--part I/K] [--limit SECONDS] [FOLDER OR FILE ...]     the table, and what is above the bounds at its end

Arguments are random, at a size and its double, as of random programs (tests/fuzz_ad/cost.py). Arrays of integers are indices where they have to be. Functions without floats, or whose arguments must
fit each other in ways random ones do not, are named and not counted.
A function has so many seconds of processor time (those that need more are named), and part I of K takes every K-th function, so the whole ends in a time that is known.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from tests.cost.ratio import Ratios
from tests.fuzz.harness import TooSlow, time_limit
from tests.fuzz_ad.cost import LARGE, SMALL, measured

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("examples", "bench")
MOST = 5.0
GROWTH = 1.25


def functions(path: Path) -> Iterator[tuple[str, at.Function]]:
    """The functions that a file defines."""
    spec = importlib.util.spec_from_file_location(f"measured_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent))  # examples import what stands beside them
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    for name, value in vars(module).items():
        if isinstance(value, at.Function) and value.signature.params:
            yield name, value


def files(names: list[str]) -> Iterator[Path]:
    for name in names or FOLDERS:
        path = Path(name) if Path(name).is_absolute() else ROOT / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def in_range(x: Any, n: int) -> Any:
    """Arrays of integers as indices below n that do not go down: places of elements, and bounds of rows too."""
    return np.sort(x % n, axis=-1) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and x.ndim else x


def compared(f: Any) -> Ratios:
    """At a size and its double; where the ratio grows, at four times these, for terms of lower order hide what it comes to."""
    fitted: Callable[[Any, int], Any] = lambda x, n: x
    try:
        found = measured(f, 1)
    except IndexError:
        fitted = in_range
        found = measured(f, 1, fitted=fitted)
    return found if found.growth <= GROWTH else measured(f, 1, (4 * SMALL, 4 * LARGE), fitted)


def tried(f: Any, seconds: int) -> Ratios | str:
    """The ratios, or why there are none."""
    try:
        with time_limit(seconds), np.errstate(all="ignore"):
            return compared(f)
    except TooSlow:
        return "slow"
    except Exception as error:  # noqa: BLE001  a table goes on
        return f"{type(error).__name__} {str(error).splitlines()[0][:90]}"


def line(name: str, got: Ratios | str) -> str:
    if isinstance(got, str):
        return f"{name:40s} {got}"
    shown = "  ".join(f"{x:6.1f} {w:6.1f}" for x, w in zip(got.operations, got.work, strict=True))
    return f"{name:40s} {shown}   growth {got.growth:5.2f}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cost.everything", description="Gradients' operations beside their functions'.")
    parser.add_argument("names", nargs="*", metavar="FOLDER OR FILE")
    parser.add_argument("--part", default="1/1", metavar="I/K", help="every K-th function, from the I-th on")
    parser.add_argument("--limit", type=int, default=20, metavar="SECONDS", help="of processor time for a function")
    given = parser.parse_args(arguments)
    part, parts = map(int, given.part.split("/"))
    warnings.simplefilter("ignore")
    number, counted, above, uncounted = 0, 0, [], 0
    for path in files(given.names):
        try:
            found = list(functions(path))
        except (Exception, SystemExit) as error:  # noqa: BLE001  some files are programs
            print(f"{path.name:40s} cannot be read: {type(error).__name__}", flush=True)
            continue
        for name, f in found:
            number += 1
            if (number - part) % parts:
                continue
            got = tried(f, given.limit)
            shown = line(f"{path.stem}.{name}", got)
            print(shown, flush=True)
            counted += not isinstance(got, str)
            uncounted += isinstance(got, str)
            if not isinstance(got, str) and (max(got.operations) > MOST or (got.growth > GROWTH and got.work[-1] > 1)):
                above.append(shown)
    print(f"{counted} counted, {uncounted} not; above {MOST:g} times the operations or growth of {GROWTH:g}: {len(above)}", *above, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
