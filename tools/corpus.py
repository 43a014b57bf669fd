"""The loops and the C of every function of a corpus, as digests: what a refactoring of the compiler must leave as it is.

    python -m tools.corpus record before.json [--grad]       # every @at.fn at module level of tests/, bench/ and examples/
    python -m tools.corpus compare before.json               # what is different now, by name and stage
    python -m tools.corpus compare whole.json --whole --numbers    # but for the numbers of names (x__7), which a copy more changes (texts, recorded with --whole)
    python -m tools.corpus record a.json --only bench        # files whose path contains a word
    python -m tools.corpus passes out.json                   # how many functions each rewrite of loops changes

    python -m tools.corpus compare before.json --shuffle 7   # in another order, after other work in the process: the text must be the same

Two processes give the same text whatever PYTHONHASHSEED is and whatever they did before (tests/loops/test_same_text.py).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import io
import json
import random
import re
import string
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import atoll as at
from atoll.backends.c.jit import generate
from atoll.core.needs import needs_functions
from atoll.loops import ir as lp
from atoll.loops.optimise import PASSES, Pass, optimise
from atoll.loops.show import show as show_loops
from atoll.loops.transform.walk import same
from atoll.lower.make import compiled_loops, make_loops

ROOT = Path(__file__).parents[1]
FOLDERS = ("examples", "bench", "tests")
_Each = TypeVar("_Each")
STAGES = ("rewritten", "c")


def modules(only: Sequence[str] = ()) -> Iterator[str]:
    """The modules of the corpus by name; files that are programs of their own or need other packages are left out when they are imported."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT)
            if (not only or any(word in str(name) for word in only)) and name.stem not in {"__main__", "conftest"} and not any(part.startswith(".") or part in ("cases", "strangers") for part in name.parts):  # cases of errors run, strangers' programs too
                yield ".".join(name.with_suffix("").parts)


def functions(module: str) -> Iterator[tuple[str, at.Function]]:
    """The functions of a module, as module:name."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), _beside(module):
            found = importlib.import_module(module)
    except BaseException as error:  # a file may end the process, skip itself or want a peer's package
        if isinstance(error, KeyboardInterrupt):
            raise
        return
    for name, value in sorted(vars(found).items()):
        if isinstance(value, at.Function) and getattr(value, "__module__", module) == module:
            yield f"{module}:{name}", value


@contextlib.contextmanager
def _beside(module: str) -> Iterator[None]:
    """Examples are programs that are started: what stands beside them is imported by its name."""
    if not module.startswith("examples."):
        yield
        return
    folder = str(ROOT.joinpath(*module.split(".")).parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def texts(fn: at.Function, again: bool = False) -> dict[str, str]:
    """The text of each stage, or the code of the error it gets; loops are made once and printed twice, as `show` does. `again`: of the second time they are made."""
    try:
        if needs_functions(fn.core):
            return {stage: _shown(fn, stage) for stage in STAGES}
        loops = compiled_loops(fn.core)
        if again:
            loops, _first = compiled_loops(fn.core), loops
        return {"rewritten": show_loops(loops), "c": generate(fn.core, loops).text}
    except at.Error as error:
        return dict.fromkeys(STAGES, f"refused: {error.code}")


def _shown(fn: at.Function, stage: str) -> str:
    try:
        return fn.show(stage)
    except at.Error as error:
        return f"refused: {error.code}"


def record(only: Sequence[str] = (), gradients: bool = False, whole: bool = False, shuffled: int | None = None) -> dict[str, dict[str, str]]:
    """Stage by stage, a digest of the text (or the text) of every function; `shuffled` is the seed of another order, after other work."""
    result: dict[str, dict[str, str]] = {}
    turn = random.Random(shuffled)
    kept = [] if shuffled is None else other_work(shuffled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in _in_turn(list(modules(only)), shuffled, turn):
            for name, fn in _in_turn(list(functions(module)), shuffled, turn):
                asked = [(name, fn)]
                if gradients:
                    with contextlib.suppress(at.Error):
                        asked.append((f"grad {name}", at.grad(fn)))
                for label, each in _in_turn(asked, shuffled, turn):
                    found = texts(each, shuffled is not None)
                    result[label] = found if whole else {stage: hashlib.sha256(text.encode()).hexdigest()[:16] for stage, text in found.items()}
    del kept
    return dict(sorted(result.items()))


def other_work(seed: int) -> list[Any]:
    """What a process may have done before: sizes declared in another order, and sums and quotients of them the other way round. Alive while the list is."""
    names = [*string.ascii_letters, *(letter + digit for letter in string.ascii_lowercase for digit in "12")]
    declared = [at.sizes(name) for name in random.Random(seed).sample(names, len(names))]
    pairs = [(a, b) for a in declared[:30] for b in declared[:30]]
    return [declared, [a + b for a, b in pairs], [a - b + 1 for a, b in pairs], [(a * b + 1) // 2 for a, b in pairs]]


def _in_turn(among: list[_Each], shuffled: int | None, turn: random.Random) -> list[_Each]:
    return among if shuffled is None else turn.sample(among, len(among))


def renumbered(text: str) -> str:
    """With the numbers of names that rewrites made counted anew, in the order of the text."""
    seen: dict[str, str] = {}
    return re.sub(r"__p?\d+", lambda found: seen.setdefault(found[0], f"__{len(seen)}"), text)


def differences(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]], numbers: bool = False) -> list[str]:
    same = (lambda a, b: renumbered(a) == renumbered(b)) if numbers else (lambda a, b: a == b)
    lines = [f"{name}: only {'before' if name in before else 'after'}" for name in sorted(before.keys() ^ after.keys())]
    for name in sorted(before.keys() & after.keys()):
        different = [stage for stage in before[name] if not same(before[name][stage], after[name].get(stage, ""))]
        if different:
            lines.append(f"{name}: {', '.join(different)}")
    return lines


def firing(only: Sequence[str] = ()) -> dict[str, list[str]]:
    """The functions whose loops each pass changes; a pass that changes none is of no use here."""
    found: dict[str, list[str]] = {p.name: [] for p in PASSES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in modules(only):
            for name, fn in functions(module):
                with contextlib.suppress(at.Error):
                    _watch(fn, name, found)
    return found


def _watch(fn: at.Function, name: str, found: dict[str, list[str]]) -> None:
    loops = make_loops(fn.core)
    if not isinstance(loops, lp.Function):
        return
    before = loops.body

    def after(p: Pass, now: lp.Function, said: list[str]) -> None:
        nonlocal before
        if not same(now.body, before):
            found[p.name].append(name)
        before = now.body

    optimise(loops, fn.core.reassociate, after=after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare", "passes"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="files whose path contains one of these")
    parser.add_argument("--grad", action="store_true", help="gradients too, where they exist")
    parser.add_argument("--whole", action="store_true", help="keep the texts, not their digests")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="modules and functions in another order, after other sizes were declared")
    parser.add_argument("--numbers", action="store_true", help="numbers in names do not count")
    args = parser.parse_args()
    if args.what == "passes":
        uses = firing(args.only)
        args.file.write_text(json.dumps(uses, indent=1))
        print("\n".join(f"{len(names):5}  {name}" for name, names in sorted(uses.items(), key=lambda u: -len(u[1]))))
        return 0
    if args.what == "record":
        found = record(args.only, args.grad, args.whole, args.shuffle)
        args.file.write_text(json.dumps(found, indent=1))
        print(f"{len(found)} functions")
        return 0
    before = json.loads(args.file.read_text())
    lines = differences(before, record(args.only, args.grad, args.whole, args.shuffle), args.numbers)
    print("\n".join([*lines, f"{len(lines)} of {len(before)} functions differ"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
