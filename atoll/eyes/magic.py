"""`%load_ext atoll`, then `%%atoll --explain --time n=1000` above a cell: run it, and say of every function it defines what was asked."""

from __future__ import annotations

import argparse
import ast
import shlex
from typing import Any

from atoll.command_data import random_arguments
from atoll.errors import Error
from atoll.errors.misuse import Misuse
from atoll.function import Function
from atoll.roofline import median

HELP = "usage: %%atoll [--explain] [--memory] [--loops] [--time] [n=1000 ...]"


def load(ipython: Any) -> None:
    """What `%load_ext atoll` does."""
    ipython.register_magic_function(lambda line, cell: run(ipython, line, cell), "cell", "atoll")


def asked(line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="%%atoll", add_help=False, exit_on_error=False)
    for word in ("explain", "memory", "loops", "time"):
        parser.add_argument(f"--{word}", action="store_true")
    parser.add_argument("sizes", nargs="*")
    try:
        found, odd = parser.parse_known_args(shlex.split(line))
        found.sizes = {k: int(v) for k, _, v in (text.partition("=") for text in found.sizes)}
    except (argparse.ArgumentError, ValueError):
        raise Misuse(HELP) from None
    if odd:
        raise Misuse(f"{HELP}; {odd[0]} is none of these")
    return found


def run(ipython: Any, line: str, cell: str) -> None:
    """Run a cell and look at its functions."""
    try:
        wanted = asked(line)
    except Misuse as wrong:
        print(wrong)
        return
    ipython.run_cell(cell)
    try:
        names = [node.name for node in ast.parse(cell).body if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return
    for name in names:
        f = ipython.user_ns.get(name)
        if isinstance(f, Function):
            try:
                print(said(f, wanted))
            except (Error, Misuse) as error:
                print(error)


def said(f: Function, wanted: argparse.Namespace) -> str:
    parts = [f.type]
    if wanted.explain:
        parts.append(f.explain())
    if wanted.loops:
        parts.append(f.show("loops", origins=True))
    if wanted.memory:
        parts.append(str(f.memory()))
    if wanted.time:
        arguments = random_arguments(f, wanted.sizes)
        f(*arguments)
        parts.append(f"{f.name}: {median(lambda: f(*arguments)) * 1e3:.4g} ms")
    return "\n".join(parts)
