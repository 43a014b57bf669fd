"""python -m tests.fuzz.rewrites [--seeds A:B] [--row NAME] [--levels 0,1,2,3] [--time SECONDS] [--show SEED] [--refused]"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.rewrites", description=__doc__)
    parser.add_argument("--seeds", default="0:400")
    parser.add_argument("--row", default="")
    parser.add_argument("--levels", default="", help="levels of optimisation; default: the usual one, and 0 for every eighth seed")
    parser.add_argument("--time", type=float, default=0)
    parser.add_argument("--show", type=int)
    parser.add_argument("--refused", action="store_true", help="show what was refused")
    options = parser.parse_args()
    os.environ.setdefault("ATOLL_CACHE_DIR", "/tmp/atoll-fuzz-cache")

    from ..seeds import parse
    from .run import program, run_seeds
    from .table import ROWS

    if options.show is not None:
        print(program(options.show, options.row)[1].text)
        return 0
    start, kinds, fired, made, runs, bad = time.monotonic(), Counter[str](), Counter[str](), Counter[str](), 0, 0
    for found in run_seeds(parse(options.seeds), options.row, tuple(options.levels.split(","))):
        kinds[found.kind] += 1
        runs += found.runs
        made[found.row] += found.kind not in ("refused", "crash")
        fired[found.row] += found.fired
        bad += found.failed
        if found.failed or (options.refused and found.kind == "refused"):
            print(f"\n== {found.kind} in {found.row}: python -m tests.fuzz.rewrites --row {found.row} --seeds {found.seed},\n{found.detail}", flush=True)
        if options.time and time.monotonic() - start > options.time:
            break
    print(f"{sum(kinds.values())} programs, {runs} runs, {time.monotonic() - start:.0f} s: " + ", ".join(f"{k} {v}" for k, v in kinds.most_common()))
    print("rewritten: " + ", ".join(f"{row} {fired[row]}/{made[row]}" for row in ROWS if made[row] and ROWS[row].says))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
