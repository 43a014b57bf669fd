"""Time and closures by pass selection, beside CPython (the same text), ocamlopt and ghc (the same algorithm).

    python -m bench.functions.run [--quick] [--only NAME]         writes bench/results/functions.md

A column of another compiler stays empty where it is not installed or has no version of the program. All values are compared first; a
difference stops the bench.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atoll.functions.pipeline import SELECTIONS
from atoll.functions.program import FunctionProgram

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
EXAMPLES = ROOT / "examples" / "functional"
COLUMNS = ("none", "no lifting", "lift everything", "selective", "default")


@dataclass(frozen=True)
class Bench:
    """A program, the function that is timed, and its arguments; `small` are arguments for CPython where the others take too long."""

    name: str
    file: Path
    function: str
    args: tuple[Any, ...]
    small: tuple[Any, ...] | None = None

    @property
    def fn(self) -> Any:
        sys.path.insert(0, str(self.file.parent))
        try:
            return getattr(importlib.import_module(self.file.stem), self.function)
        finally:
            sys.path.pop(0)


def benches() -> list[Bench]:
    message = np.frombuffer(b"a" * 484, np.uint8)
    sys.path.insert(0, str(EXAMPLES))
    import graph_colouring
    import lambda_anf

    functions, main = lambda_anf.factorial_and_sum(20_000)
    sys.path.pop(0)
    more = HERE / "more_programs.py"
    return [
        Bench("binomial_queues", EXAMPLES / "binomial_queues.py", "merged_greatest", (1000, 500)),
        Bench("graph_colouring", EXAMPLES / "graph_colouring.py", "colour", (156, graph_colouring.example(), 12)),
        Bench("sha256", EXAMPLES / "sha256.py", "repeated", (message, 200)),
        Bench("differentiator", EXAMPLES / "differentiator.py", "derived_size", (7,)),
        Bench("red_black", EXAMPLES / "red_black.py", "many", (100_000,)),
        Bench("queens", EXAMPLES / "queens.py", "count_queens", (9,)),
        Bench("lambda_anf", EXAMPLES / "lambda_anf.py", "evaluate", (functions, main, 100_000_000)),
        Bench("list_pipeline", more, "pipeline", (10_000, 100)),
        Bench("ack_tak", more, "ack_tak", (9,)),
    ]


def best(call: Any, seconds: float) -> float:
    """The least processor time of several calls: all programs are sequential, and other work on the machine does not count."""
    found = []
    start = time.perf_counter()
    while len(found) < 3 or (time.perf_counter() - start < seconds and len(found) < 50):
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found)


def number(value: Any) -> str:
    """What the other languages print of a result."""
    if isinstance(value, tuple):
        return str(int(value[-1]))
    if isinstance(value, np.ndarray):
        return str(int(((np.arange(len(value)) + 1) * value).sum()))
    return str(int(value))


def other(compiler: str, flags: list[str], b: Bench, folder: Path) -> tuple[str, float] | None:
    """A program of ocaml/ or haskell/, compiled and run: its value and time."""
    language, ending = ("ocaml", "ml") if compiler == "ocamlopt" else ("haskell", "hs")
    source = HERE / language / f"{b.name}.{ending}"
    if shutil.which(compiler) is None or not source.exists():
        return None
    for file in (HERE / language).glob(f"*.{ending}"):
        shutil.copy(file, folder)
    timing = ["timing.ml"] if ending == "ml" else []
    subprocess.run([compiler, *flags, *timing, source.name, "-o", "program"], cwd=folder, check=True, capture_output=True)
    edges = folder / "edges"
    if b.name == "graph_colouring":
        edges.write_text("".join(f"{x} {y}\n" for x, y in b.args[1]))
    done = subprocess.run([str(folder / "program"), str(edges)], capture_output=True, text=True, check=True)
    value, seconds = done.stdout.split()
    return value, float(seconds)


def cpython(b: Bench) -> float | None:
    """The same text by CPython."""
    if not all(isinstance(a, int) for a in b.args):
        return None
    command = [sys.executable, "-m", "bench.functions.same_text", str(b.file), b.function, *map(str, b.args)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode != 0:
        return None
    value, seconds = done.stdout.split()
    assert value == number(b.fn(*b.args)), (b.name, value)
    return float(seconds)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="shorter, and without CPython")
    options.add_argument("--only", help="one program; the rows of the others stay as they are")
    given = options.parse_args()
    quick = given.quick
    head = ["program", *(f"{c}: closures" for c in COLUMNS), *(f"{c}: ms" for c in COLUMNS), "ocamlopt ms", "ghc ms", "CPython ms", "default / ocamlopt"]
    kept = ROOT / "bench" / "results" / "functions.json"
    rows: dict[str, list[str]] = json.loads(kept.read_text()) if given.only and kept.exists() else {}
    for b in benches():
        if given.only not in (None, b.name):
            continue
        fn = b.fn
        closures, times = [], []
        value: str | None = None
        for column in COLUMNS:
            counted = FunctionProgram(fn.core, fn._arguments, "1", SELECTIONS[column], counters=True)
            found = number(counted.call(*b.args))
            assert value is None or found == value, (b.name, column, found, value)
            value = found
            closures.append(counted.closures)
            program = FunctionProgram(fn.core, fn._arguments, "3", SELECTIONS[column])
            times.append(1e3 * best(lambda p=program: p.call(*b.args), 0.2 if quick else 1.0))
        others = []
        for compiler, flags in (("ocamlopt", ["-unsafe", "-inline", "100", "-I", "+unix", "unix.cmxa"]), ("ghc", ["-O2", "-v0"])):
            with tempfile.TemporaryDirectory() as folder:
                measured = other(compiler, flags, b, Path(folder))
            if measured is not None:
                assert measured[0] == value, (b.name, compiler, measured[0], value)
            others.append(None if measured is None else 1e3 * measured[1])
        python = None if quick else cpython(b)
        ratio = times[-1] / others[0] if others[0] else None
        shown = [*map(str, closures), *(f"{t:.2f}" for t in times), *("" if t is None else f"{t:.2f}" for t in others)]
        row = [b.name, *shown, "" if python is None else f"{1e3 * python:.0f}", "" if ratio is None else f"{ratio:.2f}"]
        rows[b.name] = row
        print("  ".join(row), flush=True)
    lines = [f"Functions and data, {platform.processor() or platform.machine()}, best processor time of several runs in milliseconds; closures are counted in one run.", ""]
    lines += ["| " + " | ".join(r) + " |" for r in (head, ["---"] * len(head), *rows.values())]
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(rows, indent=1) + "\n")
    out = ROOT / "bench" / "results" / "functions.md"
    out.write_text("\n".join(lines) + "\n")
    print(out)


if __name__ == "__main__":
    main()
