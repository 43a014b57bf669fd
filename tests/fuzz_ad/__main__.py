"""python -m tests.fuzz_ad --seeds A:B [--compiled | --every K] [--shrink] [--show SEED] [--time SECONDS] [--verbose]"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter

CACHE = "/tmp/atoll-fuzz-cache"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_ad", description=__doc__)
    parser.add_argument("--seeds", default="0:200", help="A:B, or a list a,b,c")
    parser.add_argument("--compiled", action="store_true", help="compiled code too")
    parser.add_argument("--every", type=int, default=0, help="compiled code too, of every K-th seed")
    parser.add_argument("--verbose", action="store_true", help="tell of failures as they are found")
    parser.add_argument("--shrink", action="store_true", help="make one failing program of each kind small")
    parser.add_argument("--show", type=int, help="print the program of a seed")
    parser.add_argument("--time", type=float, default=0, help="stop after this many seconds")
    options = parser.parse_args()
    os.environ.setdefault("ATOLL_CACHE_DIR", CACHE)

    from tests.fuzz.seeds import parse

    from .programs import text_of
    from .run import run_seeds, shrink

    if options.show is not None:
        print(text_of(options.show))
        return 0
    every = 1 if options.compiled else options.every

    def stages(seed: int) -> tuple[str, ...]:
        return ("ainf", "loops3", "O3") if every and seed % every == 0 else ("ainf", "loops3")

    start = time.monotonic()
    refused: Counter[str] = Counter()
    groups: dict[tuple[str, str, str], list] = {}  # type: ignore[type-arg]
    programs = checked = 0
    for report in run_seeds(parse(options.seeds), stages):
        programs += 1
        checked += bool(report.outcome.checks) and report.outcome.failure is None
        if report.outcome.refused:
            refused[report.outcome.refused.split(":")[0]] += 1
        if options.verbose and (report.outcome.failure is not None or programs % 100 == 0):
            print(programs, checked, f"{time.monotonic() - start:.0f} s", report.seed, report.outcome.failure and report.outcome.failure.signature, flush=True)
        if report.outcome.failure is not None:
            groups.setdefault(report.outcome.failure.signature, []).append(report)
        if options.time and time.monotonic() - start > options.time:
            break
    print(f"{programs} programs, {checked} right, {sum(map(len, groups.values()))} wrong, {time.monotonic() - start:.0f} s")
    print("not checked:", ", ".join(f"{k} {v}" for k, v in refused.most_common()) or "none")
    for signature, reports in sorted(groups.items(), key=lambda item: -len(item[1])):
        report = reports[0]
        print(f"\n==== {len(reports)} times {signature}: seeds {[r.seed for r in reports[:8]]}")
        text = shrink(report, stages(report.seed)) if options.shrink else report.text
        print(f"# sizes {report.sizes}\n# {report.outcome.failure.detail.strip()[-1500:]}\n{text}")
    return 1 if groups else 0


if __name__ == "__main__":
    sys.exit(main())
