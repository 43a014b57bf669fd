"""Functions of a file, for the commands: FILE or FILE:FUNCTION."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atoll.errors import Error
from atoll.errors.misuse import Misuse


class Broken(Exception):
    """The file cannot be read as a program: it has a syntax error, or running it fails."""


def split_name(text: str) -> tuple[Path, str | None]:
    head, sep, tail = text.rpartition(":")
    if sep and tail.isidentifier():
        return Path(head), tail
    return Path(text), None


def is_file(path: Path) -> bool:
    """False also for names that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def running(path: Path) -> Iterator[None]:
    """While a file of the user's is read and run: what goes wrong is the file's own problem, and told as such."""
    try:
        yield
    except (Error, Misuse):
        raise
    except SyntaxError as error:
        place = f"{path}:{error.lineno}" if error.lineno else f"{path}"
        raise Broken(f"{place}: {error.msg}" + (f"\n    {error.text.strip()}" if error.text else "")) from None
    except SystemExit as error:
        raise Broken(f"{path} ends Python when it is imported (exit status {error.code})") from None
    except Exception as error:
        frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename in (str(path), str(path.resolve()))]
        if not frames and not isinstance(error, (OSError, ValueError, RecursionError, MemoryError)):  # the file was not even reached
            raise
        place = f"{path}:{frames[-1]}" if frames else f"{path}"
        raise Broken(f"{place}: the file does not run: {type(error).__name__}: {error}") from None


def load(path: Path, named: str | None = None) -> dict[str, Any]:
    """The functions of a .py file, by name; `named`: also the one that a variable holds (a derivative: slope = at.grad(f))."""
    from atoll.function import CHECK_LATER, Function

    if not is_file(path):
        raise Misuse(f"there is no file {path}")
    if path.suffix == ".fut":
        from atoll.futhark.command import functions

        return functions(path)
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_file"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Misuse(f"{path} is none of .py, .madl and .fut files")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.modules[name] = module  # classes with annotations as text look their names up here
    sys.path.insert(0, folder)
    later = CHECK_LATER.set(True)
    try:
        with running(path):
            spec.loader.exec_module(module)
    finally:
        CHECK_LATER.reset(later)
        sys.modules.pop(name, None)
        if folder in sys.path:
            sys.path.remove(folder)
    return {name: value for name, value in vars(module).items() if isinstance(value, Function) and name in (value.name, named)}


def chosen(text: str) -> list[Any]:
    """The function that is named, or all functions of the file."""
    path, name = split_name(text)
    functions = load(path, name)
    if not functions:
        raise Misuse(f"{path} has no Atoll functions")
    if name is None:
        return list(functions.values())
    if name not in functions:
        raise Misuse(f"{path} has no Atoll function {name} (there are: {', '.join(functions)})")
    return [functions[name]]


def one(text: str) -> Any:
    """The function that is named, or the only one of the file."""
    found = chosen(text)
    if len(found) > 1:
        raise Misuse(f"say which function: {split_name(text)[0]}:NAME (there are: {', '.join(f.name for f in found)})")
    return found[0]


def shorter(error: Error) -> str:
    """The error's text, with files named as seen from here, as standard error takes it: in colours and cut to its width if it is a terminal."""
    from atoll.command_looks import painted

    try:
        text = str(error).replace(f"--> {Path.cwd()}/", "--> ")
    except OSError:  # the folder we are in is gone
        text = str(error)
    return painted(text, sys.stderr)


def sizes_of(texts: list[str]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        key, sep, value = text.partition("=")
        if not sep or not (value.isascii() and value.isdigit() and len(value) < 19):
            raise Misuse(f"--size takes name=number, not {text[:60]!r}")
        sizes[key] = int(value)
    return sizes


def refuse(args: argparse.Namespace, words: dict[str, str], what: str) -> None:
    """Options that would do nothing are told."""
    for name, shown in words.items():
        if getattr(args, name) is not None:
            raise Misuse(f"{shown} has no meaning for {what}")
