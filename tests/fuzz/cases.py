"""Bugs that were found, as files: the text of a module under a comment that says what goes wrong and with which arguments.

    # symptom: ...
    # expected: ...
    # arguments: ...                      for the reader
    # run: {"sizes": {"n": 3}, "seed": 7, "stages": "all"}

`run` is read back. Arguments come from inputs.py; the program should be accepted and give a value, or with "error" a run-time error. With "call" a Python
expression in `f`, `at` and `np` is evaluated instead, which may raise an at.Error but nothing else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at

from .harness import COMPILED, FAST, Case, Failure, Outcome, build, crash_place, run_case
from .inputs import arguments
from .shrink import run_apart

FOLDER = Path(__file__).parent / "found"


def load(path: Path) -> tuple[Case, dict[str, Any]]:
    text = path.read_text()
    head = next(line for line in text.splitlines() if line.startswith("# run: "))
    how = json.loads(head.removeprefix("# run: "))
    return Case(text, how.get("seed", 0), how.get("sizes", {}), how.get("special", False)), how


def run_file(path: Path, stages: tuple[str, ...] = (*FAST, *COMPILED), apart: bool = True) -> list[str]:
    """What is still wrong with a found program, in words; nothing when it is mended."""
    case, how = load(path)
    if "call" in how:
        return _call(case.text, how["call"])
    outcome: Outcome = run_apart(case, stages) if apart else run_case(case, stages)
    if outcome.refused:
        return [f"refused: {outcome.refused}"]
    wrong = [f"{f.kind} in {f.stage}: {f.where or f.detail[:200]}" for f in outcome.failures]
    if not wrong and bool(outcome.failed_runs) != ("error" in how):
        wrong = ["a run-time error instead of a value" if outcome.failed_runs else f"a value instead of {how['error']}"]
    return wrong


def _call(text: str, call: str) -> list[str]:
    f = build(text)
    if isinstance(f, Failure):
        return [f"{f.kind} in {f.stage}: {f.where}"]
    try:
        if isinstance(f, str):
            return []
        eval(call, {"f": f, "at": at, "np": np, **f.namespace.globals})  # noqa: S307  our own text
    except at.Error:
        return []
    except Exception as error:  # noqa: BLE001  finding those is the purpose
        return [f"crash: {crash_place(error)}"]
    return []


def save(name: str, case: Case, symptom: str, expected: str, **how: Any) -> Path:
    """Write a found program; `name` without its number."""
    FOLDER.mkdir(exist_ok=True)
    number = max((int(p.name[:3]) for p in FOLDER.glob("[0-9]*.py")), default=0) + 1
    f = build(case.text)
    shown = "none: the front end fails"
    if not isinstance(f, (Failure, str)) and "call" not in how:
        given = arguments(f.core, case.sizes, case.seed, case.special)
        shown = ", ".join(f"{sym.name}={value!r}" for (sym, _), value in zip(f.core.params, given, strict=True)) or "none"
    used = {k: v for k, v in case.sizes.items() if k in case.text.partition("def ")[2]}
    run: dict[str, Any] = {"sizes": used, "seed": case.seed}
    if case.special:
        run["special"] = True
    run.update(how)
    if "call" in how:
        run, shown = {"call": how["call"]}, how["call"]
    lines = ["symptom: " + symptom, "expected: " + expected, "arguments: " + shown.replace("\n", " "), "run: " + json.dumps(run)]
    path = FOLDER / f"{number:03d}_{name}.py"
    path.write_text("".join(f"# {line}\n" for line in ["ruff: noqa", *lines]) + _trimmed(case.text))
    return path


def _trimmed(text: str) -> str:
    """Without imports and sizes nobody uses."""
    head, mark, body = text.partition("\n\n\n")
    used = set(re.findall(r"\w+", body))
    lines = []
    for line in head.splitlines():
        if line.startswith("from atoll import"):
            names = [name for name in line.removeprefix("from atoll import ").split(", ") if name in used]
            lines += [f"from atoll import {', '.join(names)}"] if names else []
        elif " = at.sizes(" in line:
            names = [name for name in line.partition(" = ")[0].split(", ") if name in used]
            lines += [f"{', '.join(names)} = at.sizes({' '.join(names)!r})"] if names else []
        elif line != "import numpy as np" or "np" in used:
            lines.append(line)
    return "\n".join(lines) + mark + body
