"""python -m tests.fuzz --seeds A:B [--stages fast|all|a,b,...] [--shrink] [--show SEED]"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

CACHE = "/tmp/atoll-fuzz-cache"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seeds", default="0:200", help="A:B, or a list a,b,c")
    parser.add_argument("--stages", default="fast", help="fast (no compilation), all, compiled, or names: interpret,ainf,loops3,O0,O3")
    parser.add_argument("--rounds", type=int, default=2, help="sets of arguments per program")
    parser.add_argument("--shrink", action="store_true", help="make one failing program of each kind small")
    parser.add_argument("--time", type=float, default=0, help="stop after this many seconds")
    parser.add_argument("--show", type=int, help="print the program of a seed")
    parser.add_argument("--big", action="store_true", help="sizes in the thousands, compiled with 1 and 4 threads, no interpreter")
    parser.add_argument("--mutate", action="store_true", help="change the programs at random: most are wrong and must be refused properly")
    parser.add_argument("--found", action="store_true", help="run the programs in found/ again")
    parser.add_argument("--out", type=Path, help="write failing texts into this folder")
    options = parser.parse_args()
    os.environ.setdefault("ATOLL_CACHE_DIR", CACHE)

    from .harness import COMPILED, FAST, THREADS, run_seeds
    from .seeds import parse
    from .shrink import describe, shrink

    if options.found:
        from .cases import FOLDER, run_file

        bad = 0
        for path in sorted(FOLDER.glob("*.py")):
            wrong = run_file(path)
            bad += bool(wrong)
            print(f"{path.name}: {wrong[0] if wrong else 'mended'}")
        return 1 if bad else 0
    if options.show is not None:
        from .generator import generate

        print(generate(options.show).text)
        return 0
    named = {"fast": FAST, "all": (*FAST, *COMPILED), "compiled": ("interpret", *COMPILED)}
    stages = named.get(options.stages) or tuple(options.stages.split(","))
    if options.mutate and options.stages == "fast":
        stages = ()  # only the front end: a changed loop may never end
    if options.big and options.stages == "fast":
        stages = THREADS
    start = time.monotonic()
    accepted = programs = failed_runs = runs = 0
    refused: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    groups: dict[tuple[str, str, str], list] = {}  # type: ignore[type-arg]
    for report in run_seeds(parse(options.seeds), stages, options.rounds, mutated=options.mutate, big=options.big, patience=15 if options.big else 180):
        programs += 1
        accepted += report.outcome.accepted
        failed_runs += report.outcome.failed_runs
        runs += report.outcome.stages[stages[0]] if stages else 0
        ran += report.outcome.stages
        if report.outcome.refused:
            refused[report.outcome.refused.split(":")[0]] += 1
        for failure in report.outcome.failures:
            groups.setdefault(failure.signature, []).append((report, failure))
        if options.time and time.monotonic() - start > options.time:
            break
    seconds = time.monotonic() - start
    print(f"{programs} programs, {accepted} accepted ({100 * accepted / max(1, programs):.1f} %), {seconds:.0f} s")
    print(f"{runs} sets of arguments, {failed_runs} end in a run-time error ({100 * failed_runs / max(1, runs):.1f} %)")
    print("runs per stage:", ", ".join(f"{k} {v}" for k, v in ran.items()))
    if refused:
        print("refused:", ", ".join(f"{code} {count}" for code, count in refused.most_common()))
    for signature, found in sorted(groups.items(), key=lambda item: -len(item[1])):
        report, failure = min(found, key=lambda pair: len(pair[0].case.text))
        seeds = sorted({r.seed for r, _ in found})
        print(f"\n== {' | '.join(signature)}: {len(seeds)} programs, seeds {seeds[:12]}")
        print(f"   smallest: seed {report.seed}, sizes {report.case.sizes}")
        print("   " + failure.detail.strip().replace("\n", "\n   ")[-1500:])
        if options.shrink:
            small = shrink(report.case, failure, stages)
            print("\n" + describe(small, failure))
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{report.seed}.py").write_text(describe(report.case, failure))
    return 1 if groups else 0


if __name__ == "__main__":
    sys.exit(main())
