"""Futhark's own test suite, on a checkout: python tools/futhark_suite.py CHECKOUT [DIRECTORY ...] [--every N] [--compiled] [--list]

Scores by directory: files with run cases whose expected values are known, and programs that must be rejected, for the right reason as far as the
words of the expected message say one. A program has 10 seconds of processor time, its children's included; one that uses none for a minute hangs. Cases run by the reference interpreter, unless their tag is `compiled`.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atoll.errors import Error
from atoll.futhark.blocks import Spec, read_spec
from atoll.futhark.testing import run_spec

SECONDS = 10
# Words of Futhark's messages, and the codes that say the same here. The first row that matches is the reason.
REASONS = [
    (r"consum|uniqu|alias|in-place", {"E1405"}),
    (r"do not match|does not match|cannot match|length|apply|occurs", {"E1403", "E1404"}),
    (r"size|causal|ambiguous|existential|anonymous|constructive|shape|scope|dimension|rank|\[", {"E1403", "E1404", "E1406"}),
    (r"module|missing|duplicate|previously|defin|import|entry|refine|bound|lifted", {"E1401", "E1402", "E1403", "E1404", "E1406"}),
    (r"match|constr|pattern|cases|refutable", {"E1401", "E1403", "E1406", "E1407"}),
    (r"unknown|scope|name", {"E1402"}),
    (r"pars|syntax|unexpected|prefix|operator", {"E1401", "E1406"}),
]


def right_reason(expected: str, error: Error) -> bool:
    text = str(error)
    if not expected.strip():
        return True
    try:
        if re.search(expected, text, re.IGNORECASE):
            return True
    except re.error:
        pass
    codes = next((codes for words, codes in REASONS if re.search(words, expected, re.IGNORECASE)), {"E1401", "E1402", "E1403", "E1404", "E1406", "E1407"})
    return error.code in codes


def kind(spec: Spec) -> str:
    if spec.error is not None:
        return "reject"
    checked = any(c.kind == "plain" and not c.auto and (c.output is not None or c.output_file is not None or c.error is not None) for c in spec.cases)
    return "run" if checked else "other"


def outcome(path: Path, compiled: bool) -> tuple[str, str, str]:
    """(kind of file, what became of it, words)."""
    text = path.read_text(encoding="utf-8", errors="replace")
    spec = read_spec(text, str(path))
    what = kind(spec)
    if what == "reject":
        from atoll.futhark.api import Module

        try:
            module = Module(text, str(path), path.parent)
            for name in dir(module):
                getattr(module, name)
        except Error as error:
            if error.code == "E1408":
                return what, "unsupported", str(error).splitlines()[0]
            return what, "passed" if right_reason(spec.error or "", error) else "other reason", f"{error.code}, expected: {spec.error}"
        return what, "accepted", f"expected: {spec.error}"
    found = run_spec(spec, text, path, compiled)
    bad = [o for o in found if o.state in ("failed", "rejected")]
    return what, bad[0].state if bad else "passed", bad[0].text.splitlines()[0] if bad and bad[0].text else ""


class _TooLong(BaseException):
    """Its time is over. No Exception: nothing on the way may take it for something else."""


def _alarm(*_: Any) -> None:
    raise _TooLong


class _Watch:
    """Looks once in a while, by the clock: a machine with other work gives a program less than that of a processor, which is no fault of the program."""

    def __init__(self) -> None:
        self.begun = self.seen = self._used()

    @staticmethod
    def _used() -> float:
        return sum(os.times()[:4])

    def __call__(self, *_: Any) -> None:
        used = self._used()
        if used - self.begun > SECONDS or used - self.seen < 0.1:
            raise _TooLong
        self.seen = used
        signal.alarm(6 * SECONDS)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout")
    parser.add_argument("directories", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="each N-th file only")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--list", action="store_true", help="every file that did not pass")
    args = parser.parse_args()
    tests = Path(args.checkout) / "tests"
    if not tests.is_dir():
        print(f"{args.checkout} is no checkout of Futhark: it has no folder tests", file=sys.stderr)
        return 2
    files = sorted(tests.rglob("*.fut"))[:: args.every]
    scores: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    signal.signal(signal.SIGPROF, _alarm)
    for path in files:
        what = kind(read_spec(path.read_text(encoding="utf-8", errors="replace"), str(path)))
        folder = path.relative_to(tests).parts[0] if path.parent != tests else "."
        if args.directories and folder not in args.directories:
            continue
        signal.signal(signal.SIGALRM, _Watch())
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(6 * SECONDS)
        try:
            what, state, words = outcome(path, args.compiled)
        except _TooLong:
            state, words = "hang", f"more than {SECONDS} s"
        except Exception as problem:  # noqa: BLE001  a crash is a result here
            state, words = "crash", f"{type(problem).__name__}: {problem}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
        scores[folder][what, state] += 1
        if state != "passed":
            reasons[re.sub(r"\d+", "N", words)[:100]] += 1
            if args.list:
                print(f"{state:12} {path.relative_to(tests)}: {words[:160]}", flush=True)
    print(f"{'directory':28} run-checked   rejected   other   crash  hang")
    total: Counter[tuple[str, str]] = Counter()
    for folder in [*sorted(scores), "total"]:
        c = scores[folder] if folder in scores else total
        if folder in scores:
            total.update(c)

        def share(what: str, c: Counter[tuple[str, str]] = c) -> str:
            whole = sum(n for (k, _), n in c.items() if k == what)
            return f"{c[what, 'passed']}/{whole}"

        crash, hang = (sum(n for (_, state), n in c.items() if state == s) for s in ("crash", "hang"))
        print(f"{folder:28} {share('run'):>11} {share('reject'):>10} {share('other'):>7} {crash:>7} {hang:>5}")
    print("\nmost frequent reasons:")
    for words, n in reasons.most_common(25):
        print(f"{n:5}  {words}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
