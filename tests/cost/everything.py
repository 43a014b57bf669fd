"""The cost of the reverse derivative of every function of examples/ and bench/ that has one, beside the function's own (tests/cost/ratio.py).

    python -m tests.cost.everything [FOLDER OR FILE ...]     the table

Arguments are random, at a size and its double, as of random programs (tests/fuzz_ad/cost.py). Functions without floats, or whose arguments must fit each other in ways random ones do not, are named and not counted.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from tests.cost.ratio import Ratios
from tests.fuzz.harness import TooSlow, time_limit
from tests.fuzz_ad.cost import measured

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("examples", "bench")
TIME = 40


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


def tried(f: Any) -> Ratios | str:
    """The ratios, or why there are none."""
    try:
        with time_limit(TIME), np.errstate(all="ignore"):
            return measured(f, 1)
    except TooSlow:
        return "slow"
    except Exception as error:  # noqa: BLE001  a table goes on
        return f"{type(error).__name__} {str(error).splitlines()[0][:90]}"


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    for path in files(names):
        try:
            found = list(functions(path))
        except (Exception, SystemExit) as error:  # noqa: BLE001  some files are programs
            print(f"{path.name:40s} cannot be read: {type(error).__name__}", flush=True)
            continue
        for name, f in found:
            got = tried(f)
            if isinstance(got, str):
                print(f"{path.stem + '.' + name:40s} {got}", flush=True)
            else:
                shown = "  ".join(f"{x:6.1f} {w:6.1f}" for x, w in zip(got.operations, got.work, strict=True))
                print(f"{path.stem + '.' + name:40s} {shown}   growth {got.growth:5.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
