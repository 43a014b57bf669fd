"""atoll build: C, shared libraries, modules."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from atoll.command_files import chosen, is_file, refuse, running, shorter, sizes_of, split_name
from atoll.errors import Error
from atoll.errors.misuse import Misuse


def build(args: argparse.Namespace) -> int:
    path, name = split_name(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import build_file

        refuse(args, {"module": "--module", "workspace": "--workspace"}, "a .madl file")
        options = {word: value for word in ("static", "index", "prefix", "wrap", "restrict") if (value := getattr(args, word)) is not None}
        if args.origins is not None:
            options["origins"] = args.origins
        only = args.only.split(",") if args.only is not None else None
        files, notes = build_file(path, name, Path(args.output), args.overwrite, only, sizes_of(args.size or []), **options)
        for file in files:
            print(file)
        for note in notes:
            print(note, file=sys.stderr)
        return 0
    refuse(args, {"static": "--static", "index": "--index", "prefix": "--prefix", "wrap": "--no-wrap", "restrict": "--restrict", "only": "--only", "size": "--size"}, "a .py file")
    if args.module:
        from atoll.functions.modules import build_module

        if not is_file(path):
            raise Misuse(f"there is no file {path}")
        try:
            Path(args.output).mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise Misuse(f"nothing can be written to {args.output}: {error}") from None
        with running(path):
            files = build_module(path, Path(args.output))
        for file in files:
            print(file)
        return 0
    if args.shared:
        return _build_shared(args, path, name)
    failed = []
    functions = chosen(args.file)
    for f in functions:
        if f.signature.is_generic:
            if name is not None:
                raise Misuse(f"{name} is generic: there is C only for the functions that use it")
            print(f"{f.name} is generic and is left out", file=sys.stderr)
            continue
        try:
            for file in f.export_c(args.output, args.workspace or "heap", args.overwrite, args.origins or "none"):
                print(file)
        except Error as error:
            if error.code == "E0832":
                raise Misuse(str(error).splitlines()[0].removeprefix("E0832: ")) from None
            print(shorter(error), file=sys.stderr)
            failed.append(f.name)
    if failed and len(functions) > 1:
        print(f"atoll: no C was written for {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _build_shared(args: argparse.Namespace, path: Path, name: str | None) -> int:
    from atoll.runtime.shared import build_shared

    functions = chosen(args.file)
    if name is None:  # what can be called with arrays; named functions are refused with the reason
        left_out = [f.name for f in functions if f.signature.is_generic]
        if left_out:
            print(f"generic and left out: {', '.join(left_out)}", file=sys.stderr)
        functions = [f for f in functions if not f.signature.is_generic]
    try:
        for file in build_shared(functions, path.stem + "_compiled", args.output, args.cpu, args.overwrite):
            print(file)
    except Error as error:
        print(shorter(error), file=sys.stderr)
        return 1
    return 0
