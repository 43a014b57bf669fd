"""Every function of the corpus through the bounded validator: `python -m tests.validate [words of paths]`, or `make validate`.

One line for each pass: how many uses were strict, regrouped, wrong, unseen, and in how many every new statement ran. Exit status 1 if anything is wrong.
"""

from __future__ import annotations

import collections
import sys
import time
import warnings

import atoll as at
from atoll.validate.bounded import validate
from tools.corpus import functions, modules

from .small import CHOICES, small_blocks


def main(words: list[str]) -> int:
    warnings.simplefilter("ignore")
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    programs: collections.Counter[str] = collections.Counter()
    start = time.time()
    for module in modules(words):
        for name, fn in functions(module):
            try:
                with small_blocks():
                    verdicts = validate(fn.core, CHOICES, seconds=8.0)
            except at.Error:
                programs["no loops"] += 1
                continue
            except Exception as problem:  # noqa: BLE001  told, and the next one tried
                print(f"CRASHED {name}: {type(problem).__name__}: {problem}", flush=True)
                programs["crashed"] += 1
                continue
            for v in verdicts:
                table[v.name][v.kind] += 1
                table[v.name]["whole"] += v.whole
                if v.kind == "wrong":
                    print(f"WRONG {name}: {v.name}: {v.detail}", flush=True)
            kinds = {v.kind for v in verdicts}
            programs["not rewritten" if not verdicts else "wrong" if "wrong" in kinds else "unseen" if "unseen" in kinds else "whole" if all(v.whole for v in verdicts) else "in part"] += 1
    for name, counts in sorted(table.items()):
        print(f"{name:20} {sum(counts.values()) - counts['whole']:5} uses  " + "  ".join(f"{kind} {counts[kind]}" for kind in ("strict", "regrouped", "wrong", "unseen", "whole") if counts[kind]))
    print(f"{sum(programs.values())} functions: " + ", ".join(f"{kind} {count}" for kind, count in programs.most_common()) + f"; {time.time() - start:.0f} s")
    return 1 if programs["wrong"] or programs["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
