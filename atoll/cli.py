"""The command line: atoll check|show|cost|run|build|bench|tune|prove|explain|doctor FILE[:FUNCTION].

Exit status 0: fine; 1: the program is wrong; 2: the call is wrong.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atoll.command_build import build
from atoll.command_files import Broken, chosen, is_file, one, refuse, shorter, sizes_of, split_name
from atoll.command_measure import bench, tune
from atoll.errors import Error
from atoll.errors.misuse import Misuse


def main(argv: list[str] | None = None) -> int:
    """Entry of the `atoll` command; returns the exit status."""
    parser = _parser()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files may hold bytes that are no text
    try:
        args = parser.parse_args(argv)
    except SystemExit as stop:
        return 0 if stop.code in (0, None) else 2
    try:
        return int(args.run(args))
    except Misuse as wrong:
        print(f"atoll: {wrong}", file=sys.stderr)
        return 2
    except Broken as wrong:
        print(f"atoll: {wrong}", file=sys.stderr)
        return 1
    except Error as error:
        print(shorter(error), file=sys.stderr)
        return 2 if args.run is _run and error.code.startswith("E06") else 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as bug:  # noqa: BLE001  the last line of defence: a user never sees a traceback from inside
        if os.environ.get("ATOLL_DEBUG") == "1":
            traceback.print_exc()
        print(f"atoll: this is a bug in Atoll: {type(bug).__name__}: {bug}", file=sys.stderr)
        print("Please report it with the file; ATOLL_DEBUG=1 shows where it happened.", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    from atoll import __version__

    parser = argparse.ArgumentParser(prog="atoll", description="Atoll: functional array programs, compiled.")
    parser.add_argument("--version", action="version", version=f"atoll {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    sub = command("check", _check, "check types and sizes of a function, or of every function of a file")
    sub.add_argument("file", metavar="FILE[:FUNCTION]")
    sub.add_argument("--watch", action="store_true", help="again whenever the file changes, until Ctrl-C")
    sub.add_argument("--json", action="store_true", help="for tools: functions, problems, their places and edits")
    sub = command("show", _show, "print a function, or every function of a file, at a stage")
    sub.add_argument("file", metavar="FILE[:FUNCTION]")
    sub.add_argument("--stage", default="loops", help="surface, core, ainf, term, plan, loops, passes, rewritten or c")
    sub.add_argument("--origins", action="store_true", help="every line with the lines of the source it comes from")
    sub.add_argument("--json", action="store_true", help="for tools: every line with the lines of the source it comes from")
    sub = command("cost", _cost, "print what a function, or every function of a file, does: operations, bytes and rounds as formulas of the sizes")
    sub.add_argument("file", metavar="FILE[:FUNCTION]")
    sub.add_argument("--size", action="append", default=[], metavar="n=1000", help="put a size in")
    sub = command("run", _run, "call a function; arguments are Python literals or .npy files")
    sub.add_argument("file", metavar="FILE:FUNCTION")
    sub.add_argument("args", nargs="*")
    sub.add_argument("--interpret", action="store_true", help="use the reference interpreter")
    sub.add_argument("--cycles", type=int, help=".madl: how many times to step (1)")
    sub.add_argument("--size", action="append", default=[], metavar="n=8", help="a size of a .madl operator that no argument has")
    sub.add_argument("--in", dest="stimuli", metavar="FILE.csv", help=".madl: a row of arguments per cycle; the oracle runs them")
    sub.add_argument("--out", metavar="FILE.csv", help=".madl: where the trace is written")
    sub.add_argument("--golden", metavar="FILE.csv", help=".madl: a trace to compare with")
    sub.add_argument("--on", metavar="TARGETS", help=".madl: also there, back to back: python, meaning, gcc, clang, m32, cortex-m0, cortex-m4")
    sub.add_argument("--tolerance", type=float, help=".madl: what counts as equal, relative")
    sub.add_argument("--coverage", action="store_true", default=None, help=".madl: which outcomes of decisions were reached")
    sub.add_argument("--plot", action="store_true", default=None, help=".madl: the trace as a picture")
    sub = command("test", _test, "run the test blocks of a .fut file")
    sub.add_argument("file", metavar="FILE.fut")
    sub.add_argument("--compiled", action="store_true", help="compiled code instead of the reference interpreter")
    sub = command("report", _report, "what the operators of a .madl file cost on a target: RAM, ROM, stack, loops, operations, copies, shared memory")
    sub.add_argument("file", metavar="FILE.madl[:OPERATOR]")
    sub.add_argument("--target", default="gcc", help="gcc, clang, m32, cortex-m0 or cortex-m4")
    sub.add_argument("--optimise", default="-Os", metavar="-Os", help="how the C compiler optimises: --optimise=-O2")
    sub.add_argument("--index", default="int32_t", metavar="TYPE", help="the type of sizes and counters")
    sub = command("build", build, "write C: a .c, a .h and an example caller")
    sub.add_argument("file", metavar="FILE[:FUNCTION]")
    sub.add_argument("-o", "--output", default=".", help="the folder to write to")
    sub.add_argument("--workspace", default=None, choices=("heap", "caller"))
    sub.add_argument("--origins", default=None, choices=("none", "comments", "lines"), help="tell in the C which lines of the source it comes from")
    sub.add_argument("--overwrite", action="store_true", help="also files that Atoll did not write")
    sub.add_argument("--module", action="store_true", default=None, help="an object and a typed interface, for separate compilation")
    sub.add_argument("--static", action="store_true", default=None, help=".madl: state in the file, one instance of each node")
    sub.add_argument("--no-wrap", dest="wrap", action="store_false", default=None, help=".madl: C's own operators, for -fwrapv")
    sub.add_argument("--index", metavar="TYPE", help=".madl: the type of sizes and counters: int64_t, int32_t, int16_t or int")
    sub.add_argument("--prefix", help=".madl: what every visible name begins with")
    sub.add_argument("--restrict", action="store_true", default=None, help=".madl: tell the C compiler that memories do not overlap")
    sub.add_argument("--only", metavar="F,G", help=".madl: these operators; what else they need is not visible")
    sub.add_argument("--size", action="append", default=None, metavar="n=8", help=".madl: a size of a `let rec` operator")
    sub.add_argument("--shared", action="store_true", help="a shared library and a Python file that calls it with NumPy alone")
    sub.add_argument("--cpu", default=None, help="with --shared: the processors it is for, as the compiler's -march names them (x86-64-v3)")
    sub = command("bench", bench, "time a function on random data, or (without FILE) every kernel of bench/")
    sub.add_argument("file", metavar="FILE:FUNCTION", nargs="?")
    sub.add_argument("--size", action="append", default=[], metavar="n=1000")
    sub = command("tune", tune, "measure the compiler's choices for a function and pin the fastest in a file beside its source")
    sub.add_argument("file", metavar="FILE:FUNCTION")
    sub.add_argument("--size", action="append", default=[], metavar="n=1000", help="a size of the random data")
    sub.add_argument("--seconds", type=float, default=0.3, help="how long to time each alternative")
    sub = command("prove", _prove, "check a certificate without trusting the compiler")
    sub.add_argument("file", metavar="FILE.cert")
    sub.add_argument("--program", metavar="FILE.py:NAME", help="also: that it is about this function, made again from its text")
    sub.add_argument("--c", metavar="FILE.c", help="also: that this C is what its loops are printed as (with --program)")
    sub.add_argument("--seconds", type=float, default=2.0, help="of the processor, for the checker; what takes longer is refused (2)")
    sub.add_argument("--verified", action="store_true", help="also: its arithmetic again, by the checker proved in Coq (make proofs builds it)")
    sub = command("explain", _explain, "tell the longer story of an error code, or what was inserted in a function")
    sub.add_argument("what", metavar="E0123 or FILE:FUNCTION")
    sub = command("new", _new, "a project to start from: a program, tests, a benchmark, settings")
    sub.add_argument("name", metavar="NAME")
    sub.add_argument("-o", "--output", default=".", help="the folder to make it in")
    sub = command("completion", _completion, "a script for completion in a shell: eval \"$(atoll completion bash)\"")
    sub.add_argument("shell", choices=("bash", "zsh", "fish"))
    sub = command("explore", _explore, "a page in the browser: a program at every stage side by side, linked, and edited")
    sub.add_argument("file", metavar="FILE[:FUNCTION]")
    sub.add_argument("--no-browser", action="store_true", help="only print the address")
    sub = command("lsp", _lsp, "a language server on standard input and output, for editors")
    sub.add_argument("--limit", type=float, default=10.0, help="seconds that looking at a file may take")
    command("doctor", _doctor, "look at the installation and try it")
    return parser


# -- commands


def _check(args: argparse.Namespace) -> int:
    path, name = split_name(args.file)
    if args.watch or args.json:
        from atoll.command_looks import as_json, checked, watch

        if not is_file(path):
            raise Misuse(f"there is no file {path}")
        if args.watch:
            watch(path, lambda text: print(text, flush=True))
            return 0
        found, status = checked(path, name)
        print(as_json(found))
        return status
    if path.suffix == ".madl":
        from atoll.madl.command import check_file

        lines, problems = check_file(path)
        print("\n".join(lines), end="\n" if lines else "")
        for problem in problems:
            print(problem, file=sys.stderr)
        return 1 if problems else 0
    status = 0
    for f in chosen(args.file):
        try:
            f.check()
            print(f"ok  {f.type}", flush=True)
        except Error as error:
            print(shorter(error), file=sys.stderr)
            status = 1
    return status


def _show(args: argparse.Namespace) -> int:
    path, name = split_name(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import show_file

        print(show_file(path, name, args.stage))
        return 0
    from atoll.stages import STAGES

    if args.stage not in STAGES:
        raise Misuse(f"there is no stage {args.stage} (there are: {', '.join(STAGES)})")
    if args.json:
        from atoll.command_looks import as_json
        from atoll.stages import rows, text_of

        found = []
        for f in chosen(args.file):
            source = text_of(f).surface.span.source
            found.append({"function": f.name, "stage": args.stage, "rows": [{"text": r.text, "lines": list(r.lines(source))} for r in rows(f, args.stage)]})
        print(as_json(found))
        return 0
    for number, f in enumerate(chosen(args.file)):
        if number:
            print()
        print(f.show(args.stage, args.origins))
    return 0


def _cost(args: argparse.Namespace) -> int:
    path, name = split_name(args.file)
    if path.suffix == ".madl":
        raise Misuse("costs are of functions in .py files")
    sizes = sizes_of(args.size)
    status = 0
    for f in chosen(args.file):
        try:
            known = {k: v for k, v in sizes.items() if name is not None or k in {s.name for s in f.core.sizes}}
            print(f.cost(**known))
        except Error as error:
            if error.code == "E0610":
                raise Misuse(str(error).splitlines()[0].removeprefix("E0610: ")) from None
            print(shorter(error), file=sys.stderr)
            status = 1
    return status


_SIMULATION = {"out": "--out", "golden": "--golden", "on": "--on", "tolerance": "--tolerance", "coverage": "--coverage", "plot": "--plot"}


def _run(args: argparse.Namespace) -> int:
    path, _ = split_name(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import run_file

        if args.stimuli is not None:
            from atoll.madl.command import find
            from atoll.madl.simulate import simulate

            if args.args:
                raise Misuse("give the arguments either in --in FILE.csv or on the line, not both")
            if args.cycles is not None:
                raise Misuse("--cycles has no meaning with --in: the file has a row for every cycle")
            operator, sizes = find(path, split_name(args.file)[1]), sizes_of(args.size)
            if args.tolerance is not None and args.tolerance < 0:
                raise Misuse(f"--tolerance is {args.tolerance}; it is a number, 0 or more")
            on = args.on.split(",") if args.on is not None else []
            out, golden = (Path(p) if p is not None else None for p in (args.out, args.golden))
            if operator.recursive:
                operator, sizes = operator.at(sizes), {}
            return simulate(operator, Path(args.stimuli), sizes=sizes, out=out, golden=golden, on=on, tolerance=args.tolerance or 0.0, covered=bool(args.coverage), plotted=bool(args.plot))
        refuse(args, _SIMULATION, "a run without --in")
        return run_file(path, split_name(args.file)[1], args.args, 1 if args.cycles is None else args.cycles, sizes_of(args.size), args.interpret)
    refuse(args, {"stimuli": "--in", "cycles": "--cycles", **_SIMULATION}, "a .py file")
    from atoll.command_data import literal

    f = one(args.file)
    params = f.signature.params
    if len(args.args) > len(params):
        raise Misuse(f"{f.name} takes {len(params)} argument{'' if len(params) == 1 else 's'}, not {len(args.args)}")
    values, named = [], {}
    for text, p in zip(args.args, params, strict=False):
        if p.given == "name":
            named[p.name] = literal(text, p.type)
        else:
            values.append(literal(text, p.type))
    print(f.interpret(*values, **named) if args.interpret else f(*values, **named))
    return 0


def _report(args: argparse.Namespace) -> int:
    from atoll.madl.c_file import INDEX_BITS
    from atoll.madl.report import report_file

    path, name = split_name(args.file)
    if path.suffix != ".madl":
        raise Misuse("atoll report is for .madl files; f.memory() tells what a function needs")
    if args.index not in INDEX_BITS:
        raise Misuse(f"--index takes {', '.join(INDEX_BITS)}, not {args.index!r}")
    print(report_file(path, name, args.target, args.optimise, args.index))
    return 0


def _test(args: argparse.Namespace) -> int:
    path = Path(args.file)
    if path.suffix != ".fut":
        raise Misuse("atoll test is for .fut files, which have test blocks")
    if not is_file(path):
        raise Misuse(f"there is no file {path}")
    from atoll.futhark.command import run_tests

    return run_tests(path, args.compiled)


def _prove(args: argparse.Namespace) -> int:
    path = Path(args.file)
    if not is_file(path):
        raise Misuse(f"there is no file {path}")
    from atoll.check.prove import prove_file

    if args.c is not None and args.program is None:
        raise Misuse("--c needs --program FILE.py:NAME: the program says where its arguments and results are")
    if args.c is not None and not is_file(Path(args.c)):
        raise Misuse(f"there is no file {args.c}")
    where, named = (None, None) if args.program is None else split_name(args.program)
    operator = None
    if where is not None and where.suffix == ".madl":
        from atoll.madl.command import find

        if not is_file(where):
            raise Misuse(f"there is no file {where}")
        operator = find(where, named)
    function = None if args.program is None or operator is not None else one(args.program)

    def further(data: dict[str, Any]) -> list[str]:
        """What needs the compiler; the verdict before it does not."""
        from atoll.check.about import about_c, about_compile, about_operator, about_program

        if operator is not None:
            return about_operator(data, operator, None if args.c is None else Path(args.c).read_text(errors="replace"))
        if function is None:
            return []
        from atoll.schedule.api import schedule

        if "rewrites" in data:
            return about_compile(data, function, None if args.c is None else Path(args.c).read_text(errors="replace"))
        plain = schedule(function)
        lines = [about_program(data, plain)]
        if args.c is not None:
            lines.append(about_c(data, plain, Path(args.c).read_text(errors="replace")))
        return lines

    return int(prove_file(path, further=further, verified=args.verified, seconds=args.seconds))


def _explain(args: argparse.Namespace) -> int:
    from atoll.errors.catalog import CODES

    if args.what.upper() in CODES:
        row = CODES[args.what.upper()]
        print(row.describe())
        return 0
    if args.what[:1].upper() == "E" and args.what[1:].isdigit():
        raise Misuse(f"there is no error code {args.what} (docs/errors.md lists them)")
    path, name = split_name(args.what)
    if path.suffix == ".madl":
        from atoll.madl.command import explain_file

        print(explain_file(path, name))
        return 0
    print(one(args.what).explain())
    return 0


def _new(args: argparse.Namespace) -> int:
    from atoll.command_new import create

    for path in create(args.name, Path(args.output)):
        print(path)
    return 0


def _completion(args: argparse.Namespace) -> int:
    from atoll.command_looks import completion

    print(completion(_parser(), args.shell))
    return 0


def _explore(args: argparse.Namespace) -> int:
    path, name = split_name(args.file)
    if not is_file(path) or path.suffix not in (".py", ".madl", ".fut"):
        raise Misuse(f"there is no file {path}" if not is_file(path) else f"{path} is no .py, .madl or .fut file")
    from atoll.eyes.explore import run

    return run(path, name or "", not args.no_browser)


def _lsp(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("pygls") is None:
        raise Misuse("atoll lsp needs pygls: pip install 'atoll[lsp]'")
    if not args.limit > 0:
        raise Misuse("--limit is a number of seconds above 0")
    from atoll.eyes.lsp import serve

    serve(args.limit).start_io()
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from atoll.installation import doctor

    report = doctor()
    print(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
