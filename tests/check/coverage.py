"""How much of what the optimiser does is proved: `python -m tests.check.coverage [words of paths] [--every K [--from N]] [--bounded] [--grad]`.

For every function of tests, examples and bench: the share whose certificate is complete (every rewrite proved for all sizes), and by rewrite how many of its uses are
proved, only run at small sizes (with --bounded), or not validated, with the reason met most. Exit status 1 when a rewrite is refuted.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import time
import warnings

import atoll as at
from atoll.check.compiled import make_data
from tools.corpus import functions, modules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="only every K-th function")
    parser.add_argument("--from", type=int, default=0, dest="first", help="so many functions earlier: another sample of the same size")
    parser.add_argument("--bounded", action="store_true", help="run what is not proved at small sizes")
    parser.add_argument("--grad", action="store_true", help="gradients too, where they exist")
    parser.add_argument("--list", action="store_true", help="the functions that are not complete, with the reasons")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    reasons: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    programs: collections.Counter[str] = collections.Counter()
    start, seen = time.process_time(), 0
    for module in modules(args.words):
        for name, fn in functions(module):
            asked = [(name, fn)]
            if args.grad:
                with contextlib.suppress(at.Error):
                    asked.append((f"grad {name}", at.grad(fn)))
            for label, each in asked:
                seen += 1
                if (seen + args.first) % args.every == 0:
                    programs[_one(label, each, args, table, reasons)] += 1
    for name, counts in sorted(table.items(), key=lambda row: -sum(row[1].values())):
        why = ", ".join(f"{reason} ({n})" for reason, n in reasons[name].most_common(2))
        print(f"{name:20} {sum(counts.values()):5} uses  " + "  ".join(f"{kind} {counts[kind]}" for kind in ("proved", "bounded", "open") if counts[kind]) + (f"   not: {why}" if why else ""))
    loops = sum(programs.values()) - programs["no loops"]
    whole = programs["complete"] + programs["not rewritten"]
    uses, proved = sum(sum(c.values()) for c in table.values()), sum(c["proved"] for c in table.values())
    print(f"{loops} functions with loops: " + ", ".join(f"{kind} {count}" for kind, count in programs.most_common()))
    print(f"complete certificates: {whole} of {loops} ({100 * whole / max(1, loops):.0f} %); uses of rewrites proved: {proved} of {uses} ({100 * proved / max(1, uses):.0f} %); {time.process_time() - start:.0f} s")
    return 1 if programs["wrong"] else 0


def _one(label: str, fn: at.Function, args: argparse.Namespace, table: dict[str, collections.Counter[str]], reasons: dict[str, collections.Counter[str]]) -> str:
    try:
        data = make_data(fn.core, bounded=args.bounded, seconds=2.0)
    except at.Error as error:
        if error.code == "E0511":
            print(f"WRONG {label}: {error}", flush=True)
            return "wrong"
        return "no loops"
    left = []
    for r in data["rewrites"]:
        if r["name"] == "functions":
            return "no loops"
        table[r["name"]][r["status"]] += 1
        if r["why"]:
            left.append(f"{r['name']}: {r['why']}")
            reasons[r["name"]][" ".join(word for word in r["why"].split("; ")[0].split() if "#" not in word)] += 1
    if left and args.list:
        print(f"{label}: {'; '.join(left)}", flush=True)
    return "not rewritten" if not data["rewrites"] else "complete" if not left else "in part"


if __name__ == "__main__":
    raise SystemExit(main())
