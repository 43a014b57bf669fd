"""The protocol: a line of JSON in, a line of JSON out.

`start` and `define` say who we are and what we have; `evaluate` runs a function until both `min_runs` and `min_seconds` are reached and reports each run's time;
`analysis` is only acknowledged. What fails is told in the answer and does not end the tool. Turning JSON into arrays is not timed, nor is compiling, which `define`
cannot do yet as types depend on nothing but the function: it is done before the first run.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO

import atoll as at

EVALS = ("hello", "llsq", "lse", "gmm", "kmeans", "det", "ode", "lstm", "ba", "ht", "saddle", "particle")


@dataclass(frozen=True)
class Entry:
    """A function of an eval: what computes, and how its arguments and result are told in JSON."""

    function: Callable[..., Any]
    arguments: Callable[[Any], tuple[Any, ...]]
    output: Callable[[Any], Any]


def entries(module: str) -> dict[str, Entry]:
    found: dict[str, Entry] = importlib.import_module(f"bench.gradbench.evals.{module}").ENTRIES
    return found


def evaluate(entry: Entry, given: Any) -> dict[str, Any]:
    args = entry.arguments(given)
    runs, seconds = 1, 0.0
    if isinstance(given, dict):
        runs, seconds = int(given.get("min_runs", 1)), float(given.get("min_seconds", 0))
    if hasattr(entry.function, "compile"):
        entry.function.compile()
    taken: list[int] = []
    while len(taken) < runs or sum(taken) < seconds * 1e9:
        start = time.perf_counter_ns()
        result = entry.function(*args)
        taken.append(time.perf_counter_ns() - start)
    output = entry.output(result)
    if not finite(output):
        raise ValueError("the result is not finite, which JSON cannot tell")
    return {"success": True, "output": output, "timings": [{"name": "evaluate", "nanoseconds": ns} for ns in taken]}


def finite(output: Any) -> bool:
    if isinstance(output, dict):
        return all(map(finite, output.values()))
    if isinstance(output, list):
        return all(map(finite, output))
    return not isinstance(output, float) or math.isfinite(output)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """What is said to a message, without its id."""
    match message["kind"]:
        case "start":
            return {"tool": "atoll", "config": {"version": at.__version__}}
        case "define":
            known = message["module"] in EVALS
            return {"success": True} if known else {"success": False, "error": f"no eval called {message['module']}"}
        case "evaluate":
            try:
                return evaluate(entries(message["module"])[message["function"]], message["input"])
            except Exception as problem:  # noqa: BLE001  whatever it is, the next message is answered
                return {"success": False, "error": f"{type(problem).__name__}: {problem}"}
    return {}


def serve(lines: TextIO, out: TextIO) -> None:
    for line in lines:
        message = json.loads(line)
        out.write(json.dumps({"id": message["id"], **answer(message)}) + "\n")
        out.flush()


def main() -> None:
    try:
        serve(sys.stdin, sys.stdout)
    except BrokenPipeError:
        pass
