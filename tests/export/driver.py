"""Exported C run as a program of its own: arguments from a file, results to a file, nothing of Python in between.

Every array is a block of exactly its size, so that a sanitizer sees the first step beyond it.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from atoll.backends.c.emit import safe
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops import ir as lp
from atoll.lower.make import make_loops
from atoll.runtime.arguments import from_python

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"]


def compile_files(files: list[Path], program: Path, *flags: str, compiler: str = "gcc") -> None:
    done = subprocess.run([compiler, *STRICT, *flags, "-o", str(program), *map(str, files), *([] if "-c" in flags else ["-lm"])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@cache
def _objects() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="atoll-exported-")


def compiled(source: Path, *flags: str, compiler: str = "gcc") -> Path:
    """The object file of an exported program: one text is compiled once, whatever arguments it is run on."""
    texts = [source.read_text(), source.with_suffix(".h").read_text(), compiler, *flags]
    made = Path(_objects().name) / f"{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:32]}.o"
    if not made.exists():
        compile_files([source], made, *flags, "-c", compiler=compiler)
    return made


def run(f: Any, args: tuple[Any, ...], folder: Path, *flags: str, workspace: str = "heap", compiler: str = "gcc") -> tuple[int, str, list[Any]]:
    """(status, what it means, results) of the exported function on these arguments."""
    paths = f.export_c(folder, workspace=workspace)
    source = next(p for p in paths if p.suffix == ".c" and not p.stem.endswith("_example"))
    loops = make_loops(f.core)
    given = from_python(f.core, f._arguments(args, {}))
    bound = bind_call(f.core, given)
    values = [leaf for x in given for leaf in leaves(x)]
    env: dict[Any, int] = {s: int(bound[s]) for s in loops.sizes}
    with (folder / "arguments").open("wb") as file:
        for p, value in zip(loops.inputs, values, strict=True):
            file.write(np.ascontiguousarray(value, p.dtype.numpy).tobytes())
            if isinstance(p, lp.Var) and p.dtype.is_integer:
                env[p.atom] = int(value)
    main = folder / "main.c"
    main.write_text(_main(source.stem, loops, values, env, workspace))
    compile_files([compiled(source, *flags, compiler=compiler), main], folder / "program", *flags, compiler=compiler)
    done = subprocess.run([str(folder / "program"), "arguments", "results"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    status, meaning = done.stdout.splitlines()[-1].split(" ", 1)
    if int(status) != 0:
        return int(status), meaning, []
    raw = (folder / "results").read_bytes()
    results, at = [], 0
    for o in loops.outputs:
        shape = _shape(o.buffer, env)
        size = int(np.prod(shape, dtype=np.int64)) * o.buffer.dtype.size
        results.append(np.frombuffer(raw[at : at + size], o.buffer.dtype.numpy).reshape(shape))
        at += size
    assert at == len(raw)
    return 0, meaning, results


def _shape(b: lp.Buffer, env: dict[Any, int]) -> tuple[int, ...]:
    return tuple(int(p.evaluate(lambda a: env[a])) for p in b.extents)


def _main(name: str, loops: lp.Function, values: list[Any], env: dict[Any, int], workspace: str) -> str:
    lines = [f'#include "{name}.h"', "#include <complex.h>", "#include <stdio.h>", "#include <stdlib.h>", ""]
    lines += ["static void *get(FILE *file, size_t bytes) {", "    void *block = malloc(bytes);"]
    lines += ["    if (bytes > 0 && (block == NULL || fread(block, 1, bytes, file) != bytes)) exit(9);", "    return block;", "}", ""]
    lines += ["int main(int count, char **names) {", "    if (count != 3) return 8;", '    FILE *file = fopen(names[1], "rb");', "    if (file == NULL) return 7;"]
    args = [f"INT64_C({env[s]})" for s in loops.sizes]
    blocks = []
    for k, (p, value) in enumerate(zip(loops.inputs, values, strict=True)):
        size = int(np.size(value)) * p.dtype.size
        lines.append(f"    {p.dtype.c_name} *in{k} = get(file, {size});")
        blocks.append(f"in{k}")
        args.append(f"*in{k}" if isinstance(p, lp.Var) else f"in{k}")
    lines.append("    fclose(file);")
    writes = []
    for k, o in enumerate(loops.outputs):
        size = int(np.prod(_shape(o.buffer, env), dtype=np.int64)) * o.buffer.dtype.size
        lines.append(f"    {o.buffer.dtype.c_name} *out{k} = malloc({size});")
        blocks.append(f"out{k}")
        args.append(f"out{k}")
        writes.append(f"    if ({size} > 0 && fwrite(out{k}, 1, {size}, file) != {size}) return 5;")
    if workspace == "caller" and any(isinstance(s, lp.Alloc) for s in lp.walk(loops.body)):
        given = ", ".join([*(f"INT64_C({env[s]})" for s in loops.sizes), *(f"*in{k}" for k, p in enumerate(loops.inputs) if isinstance(p, lp.Var))])
        lines.append(f"    void *workspace = aligned_block({safe(name).upper()}_WORKSPACE({given}));")
        lines.insert(4, "static char *raw;\n\nstatic void *aligned_block(int64_t bytes) {\n    raw = malloc((size_t)bytes + 64);\n    if (raw == NULL) exit(6);\n    return raw + (64 - (uintptr_t)raw % 64) % 64;\n}\n")
        args.append("workspace")
        blocks.append("raw")
    lines += [f"    int status = {name}({', '.join(args)});", f'    printf("%d %s\\n", status, {name}_error(status));']
    lines += ['    file = fopen(names[2], "wb");', "    if (file == NULL) return 6;"]
    lines += ["    if (status == 0) {", *("    " + w for w in writes), "    }", "    fclose(file);"]
    lines += [f"    free({b});" for b in blocks]
    return "\n".join([*lines, "    return 0;", "}", ""])
