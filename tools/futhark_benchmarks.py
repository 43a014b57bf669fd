"""Programs of futhark-benchmarks, on a checkout: python tools/futhark_benchmarks.py CHECKOUT [NAME ...] [--cases N] [--seconds N] [--bytes N] [--table FILE] [--count]

Every program with test blocks is compiled and called with what the checkout has: data in the text or in files (compared with the reference results), and
random inputs (which only have to run). Data that lies elsewhere is named as missing. Per case: what became of it, the first call (compiling included) and
the best of the next ones. Each program is a process of its own with a limit of time.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def programs(checkout: Path) -> list[Path]:
    found = (p for p in sorted(checkout.rglob("*.fut")) if "lib" not in p.relative_to(checkout).parts)
    return [p for p in found if any(line.strip() == "-- ==" for line in p.read_text(encoding="utf-8", errors="replace").splitlines())]


def counted(checkout: Path) -> str:
    """How many programs can be called with what the checkout has, and how many compared."""
    from atoll.futhark.blocks import read_spec

    files = programs(checkout)
    called = compared = 0
    for path in files:
        cases = read_spec(path.read_text(encoding="utf-8", errors="replace"), str(path)).cases
        given = [c for c in cases if c.kind != "script" and (c.input_file is None or (path.parent / c.input_file).exists())]
        called += bool(given)
        compared += any(c.kind != "random" and not c.auto and (c.output is not None or (c.output_file is not None and (path.parent / c.output_file).exists())) for c in given)
    return f"{len(files)} programs with test blocks, {called} with an input, {compared} with an input and a reference result"


def one(path: Path, most: int, cases: int) -> None:
    """All cases of a program, a line of JSON for each."""
    from atoll.errors import Error
    from atoll.futhark.api import Module
    from atoll.futhark.blocks import read_spec

    text = path.read_text(encoding="utf-8", errors="replace")
    spec = read_spec(text, str(path))

    def tell(**row: Any) -> None:
        print(json.dumps(row), flush=True)

    try:
        module = Module(text, str(path), path.parent, frozenset(case.entry for case in spec.cases))
    except Error as error:
        tell(case="", state="rejected", text=str(error).splitlines()[0])
        return
    done = 0
    for case in spec.cases:
        if cases and done == cases:
            break
        shown = case.name or case.input_file or (case.input or "").strip().replace("\n", " ")[:40]
        try:
            row = _case(module, case, path, most)
            done += row["state"] in ("right", "ran", "wrong")
            tell(case=f"{case.entry} {shown}", **row)
        except Error as error:
            tell(case=f"{case.entry} {shown}", state="failed", text=str(error).splitlines()[0])


def _case(module: Any, case: Any, path: Path, most: int) -> dict[str, Any]:
    import numpy as np

    from atoll.futhark.data import random_values
    from atoll.futhark.testing import Wrong, _flat, _python, _values, arguments, compare

    if case.kind == "script":
        return {"state": "script"}
    file = None if case.input_file is None else path.parent / case.input_file
    if file is not None and not file.exists():
        return {"state": "no data"}
    if file is not None and file.stat().st_size > most:
        return {"state": "too large"}
    try:
        given = random_values(case.input or "") if case.kind == "random" else _values(case.input, case.input_file, path)
        if sum(np.asarray(x).nbytes for x in given) > most:
            return {"state": "too large"}
        fn = getattr(module, case.entry)
        args = [_python(t, a) for (_, t), a in zip(fn.core.params, arguments(fn, given), strict=True)]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            result = fn(*args)
            first = time.perf_counter() - start
            best = float("inf")
            spent, runs = 0.0, 0
            while (spent < 0.5 or runs < 3) and spent < 5:
                runs += 1
                start = time.perf_counter()
                fn(*args)
                took = time.perf_counter() - start
                best, spent = min(best, took), spent + took
        times = {"first": first, "best": best}
        known = not case.auto and (case.output is not None or (case.output_file is not None and (path.parent / case.output_file).exists()))
        if not known:
            return {"state": "ran", **times}
        found, wanted = _flat(fn.core.result, result), _values(case.output, case.output_file, path)
        problem = compare(found, wanted)
        if problem is not None and compare(found, wanted, 2e-3) is None:
            return {"state": "right", "text": f"within Futhark's tolerance of 0.002: {problem}", **times}
        return {"state": "right" if problem is None else "wrong", "text": problem or "", **times}
    except Wrong as error:
        return {"state": "failed", "text": str(error)}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout")
    parser.add_argument("names", nargs="*", help="parts of paths; all programs without")
    parser.add_argument("--seconds", type=int, default=60, help="a program's limit")
    parser.add_argument("--bytes", type=int, default=50_000_000, help="larger inputs are left out")
    parser.add_argument("--cases", type=int, default=0, help="so many cases of a program that can be run; 0 for all")
    parser.add_argument("--table", help="write the results there, as Markdown")
    parser.add_argument("--count", action="store_true", help="only count the programs that have data")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        signal.alarm(args.seconds)
        one(Path(args.checkout), args.bytes, args.cases)
        return 0
    checkout = Path(args.checkout)
    files = programs(checkout)
    if not files:
        print(f"{checkout} has no Futhark programs with test blocks", file=sys.stderr)
        return 2
    if args.count:
        print(counted(checkout))
        return 0
    rows: list[tuple[str, dict[str, Any]]] = []
    for path in files:
        name = str(path.relative_to(checkout).with_suffix(""))
        if args.names and not any(part in name for part in args.names):
            continue
        command = [sys.executable, "-W", "ignore", __file__, str(path), "--one", "--seconds", str(args.seconds), "--bytes", str(args.bytes), "--cases", str(args.cases)]
        done = subprocess.run(command, capture_output=True, text=True)
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode:
            words = "time" if done.returncode == -signal.SIGALRM else (done.stderr.strip().splitlines() or ["?"])[-1]
            found.append({"case": "", "state": "stopped", "text": words})
        for row in found:
            rows.append((name, row))
            print(f"{row['state']:10} {name:40} {row['case'][:44]:44} {row.get('best', 0) * 1e3:10.2f} ms  {row.get('text', '')[:110]}", flush=True)
    right = {name for name, row in rows if row["state"] == "right"} - {name for name, row in rows if row["state"] in ("wrong", "failed", "rejected", "stopped")}
    ran = {name for name, row in rows if row["state"] in ("ran", "right")}
    print(f"\n{len(right)} programs right with reference data, {len(ran)} ran, of {len({n for n, _ in rows})}")
    if args.table:
        lines = ["| program | case | result | first call | best |", "|---|---|---|--:|--:|"]
        for name, row in rows:
            if row["state"] in ("right", "ran", "wrong"):
                lines.append(f"| {name} | {row['case']} | {row['state']} | {row['first']:.2f} s | {row['best'] * 1e3:.2f} ms |")
        Path(args.table).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
