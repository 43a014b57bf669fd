"""The command line: atoll check|show|run|build|bench|prove|explain|doctor FILE[:FUNCTION].

Exit status 0: fine; 1: the program is wrong; 2: the call is wrong.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atoll.errors import Error
from atoll.errors.misuse import Misuse


def main(argv: list[str] | None = None) -> int:
    """Entry of the `atoll` command; returns the exit status."""
    parser = _parser()
    try:
        args = parser.parse_args(argv)
    except SystemExit as stop:
        return 0 if stop.code in (0, None) else 2
    try:
        return int(args.run(args))
    except Misuse as wrong:
        print(f"atoll: {wrong}", file=sys.stderr)
        return 2
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="atoll", description="Atoll: functional array programs, compiled.")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    sub = command("check", _check, "type-check every function of a file")
    sub.add_argument("file")
    sub = command("show", _show, "print a function at a stage")
    sub.add_argument("file", metavar="FILE[:FUNCTION]")
    sub.add_argument("--stage", default="loops", help="surface, core, ainf, term, loops or c")
    sub = command("run", _run, "call a function; arguments are Python literals or .npy files")
    sub.add_argument("file", metavar="FILE:FUNCTION")
    sub.add_argument("args", nargs="*")
    sub.add_argument("--interpret", action="store_true", help="use the reference interpreter")
    sub.add_argument("--cycles", type=int, default=1, help="how many times to step an operator of a .madl file")
    sub.add_argument("--size", action="append", default=[], metavar="n=8", help="a size of a .madl operator that no argument has")
    sub = command("build", _build, "write C: a .c, a .h and an example caller")
    sub.add_argument("file", metavar="FILE[:FUNCTION]")
    sub.add_argument("-o", "--output", default=".", help="the folder to write to")
    sub.add_argument("--workspace", default="heap", choices=("heap", "caller"))
    sub.add_argument("--module", action="store_true", help="an object and a typed interface, for separate compilation")
    sub = command("bench", _bench, "time a function on random data, or (without FILE) every kernel of bench/")
    sub.add_argument("file", metavar="FILE:FUNCTION", nargs="?")
    sub.add_argument("--size", action="append", default=[], metavar="n=1000")
    sub = command("prove", _prove, "check a certificate without trusting the compiler")
    sub.add_argument("file", metavar="FILE.cert")
    sub = command("explain", _explain, "tell the longer story of an error code, or what was inserted in a function")
    sub.add_argument("what", metavar="E0123 or FILE:FUNCTION")
    command("doctor", _doctor, "look at the installation and try it")
    return parser


# -- finding functions


def _split(text: str) -> tuple[Path, str | None]:
    head, sep, tail = text.rpartition(":")
    if sep and tail.isidentifier():
        return Path(head), tail
    return Path(text), None


def load(path: Path) -> dict[str, Any]:
    """The functions of a .py file, by name."""
    from atoll.function import Function

    if not path.exists():
        raise Misuse(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Misuse(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Error:
        raise
    except SyntaxError as error:
        raise Misuse(f"{path}:{error.lineno}: {error.msg}") from None
    except Exception as error:  # noqa: BLE001  the file's own problem, told as such
        raise Misuse(f"{path} does not run: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
    return {name: value for name, value in vars(module).items() if isinstance(value, Function) and value.name == name}


def _one(text: str) -> Any:
    path, name = _split(text)
    functions = load(path)
    if name is None:
        if len(functions) != 1:
            known = ", ".join(functions) or "none"
            raise Misuse(f"say which function: {path}:NAME (there are: {known})")
        return next(iter(functions.values()))
    if name not in functions:
        raise Misuse(f"{path} has no Atoll function {name} (there are: {', '.join(functions) or 'none'})")
    return functions[name]


# -- commands


def _check(args: argparse.Namespace) -> int:
    path, _ = _split(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import check_file

        for line in check_file(path):
            print(line)
        return 0
    status = 0
    functions = load(path)
    for f in functions.values():
        try:
            print(f"ok  {f.type}")
        except Error as error:
            print(error, file=sys.stderr)
            status = 1
    if not functions:
        print(f"{path} has no Atoll functions")
    return status


def _show(args: argparse.Namespace) -> int:
    path, name = _split(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import show_file

        print(show_file(path, name, args.stage))
        return 0
    print(_one(args.file).show(args.stage))
    return 0


def _literal(text: str, t: Any) -> Any:
    """An argument from the command line: a .npy file or a Python literal, as the parameter's type."""
    import numpy as np

    from atoll.types.types import Index, Record, Scalar, Tuple, shape_of

    if text.endswith(".npy"):
        try:
            return np.load(text)
        except OSError as error:
            raise Misuse(f"{text}: {error}") from None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise Misuse(f"{text!r} is neither a .npy file nor a Python literal") from None

    def convert(value: Any, t: Any) -> Any:
        sizes, elem = shape_of(t)
        if isinstance(elem, (Tuple, Record)):
            return tuple(convert(x, item) for x, item in zip(value, elem.items, strict=True))
        if isinstance(elem, (Scalar, Index)) and sizes:
            return np.array(value, elem.dtype.numpy).reshape((0,) * len(sizes) if value == [] else np.shape(value))
        return value

    try:
        return convert(value, t)
    except (ValueError, TypeError, OverflowError) as error:
        raise Misuse(f"{text!r} is no {t!r}: {error}") from None


def _run(args: argparse.Namespace) -> int:
    path, _ = _split(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import run_file

        return run_file(path, _split(args.file)[1], args.args, args.cycles, _sizes(args.size), args.interpret)
    f = _one(args.file)
    params = f.signature.params
    if len(args.args) > len(params):
        raise Misuse(f"{f.name} takes {len(params)} arguments, not {len(args.args)}")
    values = [_literal(text, p.type) for text, p in zip(args.args, params, strict=False)]
    print(f.interpret(*values) if args.interpret else f(*values))
    return 0


def _build(args: argparse.Namespace) -> int:
    path, name = _split(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import build_file

        for file in build_file(path, name, Path(args.output)):
            print(file)
        return 0
    if args.module:
        from atoll.functions.modules import build_module

        for file in build_module(path, Path(args.output)):
            print(file)
        return 0
    functions = [_one(args.file)] if name is not None else list(load(path).values())
    for f in functions:
        if f.signature.is_generic:
            continue
        for file in f.export_c(args.output, args.workspace):
            print(file)
    return 0


def _bench(args: argparse.Namespace) -> int:
    if args.file is None:
        root = Path(__file__).parents[1] / "bench" / "run.py"
        if not root.exists():
            raise Misuse("bench/ is part of the source tree; give FILE:FUNCTION to time a function of yours")
        import runpy

        runpy.run_path(str(root), run_name="__main__")
        return 0
    sizes = _sizes(args.size)
    path, name = _split(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import bench_file

        print(bench_file(path, name, sizes))
        return 0
    f = _one(args.file)
    values = _random_arguments(f, sizes)
    start = time.perf_counter()
    f(*values)
    first = time.perf_counter() - start
    times: list[float] = []
    until = time.perf_counter() + 1.0
    while len(times) < 5 or (time.perf_counter() < until and len(times) < 1000):
        start = time.perf_counter()
        f(*values)
        times.append(time.perf_counter() - start)
    times.sort()
    shown = ", ".join(f"{k}={v}" for k, v in sizes.items())
    print(f"{f.name} [{shown}]: median {times[len(times) // 2] * 1e3:.4f} ms of {len(times)} calls, first call {first * 1e3:.0f} ms")
    return 0


def _sizes(texts: list[str]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        key, sep, value = text.partition("=")
        if not sep or not value.isdigit():
            raise Misuse(f"--size takes name=number, not {text!r}")
        sizes[key] = int(value)
    return sizes


def _random_arguments(f: Any, sizes: dict[str, int]) -> list[Any]:
    import numpy as np

    from atoll.types.types import Index, Scalar, flatten, shape_of

    rng = np.random.default_rng(0)

    def value(t: Any) -> Any:
        leaves = []
        for _, leaf in flatten(t):
            dims, elem = shape_of(leaf)
            assert isinstance(elem, (Scalar, Index))
            shape = []
            for p in dims:
                missing = [repr(a) for a in p.leaves() if repr(a) not in sizes]
                if missing:
                    raise Misuse(f"give --size {missing[0]}=NUMBER")
                shape.append(p.evaluate(lambda a: sizes[repr(a)]))
            if elem.dtype.is_float or elem.dtype.is_complex:
                data: Any = rng.random(shape).astype(elem.dtype.numpy)
            elif elem.dtype.kind == "b":
                data = rng.random(shape) < 0.5
            else:
                high = elem.size.evaluate(lambda a: sizes[repr(a)]) if isinstance(elem, Index) else 8
                data = rng.integers(0, max(1, high), shape).astype(elem.dtype.numpy)
            leaves.append(data if shape else elem.dtype.numpy.type(data))
        return leaves[0] if len(leaves) == 1 else tuple(leaves)

    return [value(p.type) for p in f.signature.params]


def _prove(args: argparse.Namespace) -> int:
    path = Path(args.file)
    if not path.exists():
        raise Misuse(f"there is no file {path}")
    from atoll.check.prove import prove_file

    return int(prove_file(path))


def _explain(args: argparse.Namespace) -> int:
    from atoll.errors.catalog import CODES

    if args.what.upper() in CODES:
        row = CODES[args.what.upper()]
        print(f"{row.code} ({row.cls.__name__}): {row.title}\n")
        print(row.story or "There is nothing more to say about it.")
        if row.help:
            print(f"\nUsual remedy: {row.help}")
        return 0
    if args.what[:1].upper() == "E" and args.what[1:].isdigit():
        raise Misuse(f"there is no error code {args.what}")
    path, name = _split(args.what)
    if path.suffix == ".madl":
        from atoll.madl.command import explain_file

        print(explain_file(path, name))
        return 0
    print(_one(args.what).explain())
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from atoll.doctor import doctor

    report = doctor()
    print(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
