"""Text that would be code if it could: python -m tests.fuzz.hostile [--seeds 0:50]

Programs whose messages, names, constants and file names hold trigraphs, line ends, NUL, halves of surrogates, `%`, quotes, ends of comments, names of C's library. Each is
called, and its message must be the interpreter's; exported, its C compiles without a warning under -std=c99 -Wall -Wextra -Werror -pedantic and defines no symbol but the two
it is asked for.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PIECES = [
    "??/", "??/\"; }", "??'", "??(", "??!", "?", "??", "\r", "\n", "\r\n", "\0", "\t", "\x07", "\x1b[31m", "\x7f", "\ud800", "\udcff", "\ufeff", "%", "%s", "%n", "%d%d%d", "%%", '"', "'", "\\", "\\n",
    "\\\"", "*/", "/*", "//", "*/ int evil(void) { return 1; } /*", '"; } int evil(void) { return 1; } const char *s = "', "??/\"; }} int evil(void) {{ return 1; }} //",
    "#include </etc/passwd>", "\n#define n 1\n", "_Pragma(\"GCC poison n\")", "{{", "}}", "$(id)", "`id`", "ü", "变", "\u2028", "\u202e", "a", "0", " ", "12", "x" * 300,
]  # fmt: skip
NAMES = """math_errhandling linux unix stdin stdout stderr errno environ signgam y0 j1 jn I complex bool true_ NULL EOF NAN INFINITY M_PI L_tmpnam P_tmpdir INT64_MAX INT64_C
    main write read exit printf malloc free memcpy sqrt exp sin _Bool _x __x __func__ __LINE__ __COUNTER__ v_x vu_x at_x at_rt at_fuel at_held at_program_run atoll_entry status done workspace
    auto int double register restrict inline typeof asm NDEBUG assert offsetof va_arg size_t int64_t uint8_t ptrdiff_t max_align_t alloca index time clock signal stat größe 变量 é ﬁ ª
    sin_ sin__ MAX MAX_ x_1 i j k n_1 result stdio math string stdint X Xx PRId64 SCNd64 FP_NAN HUGE_VAL CMPLX creal conj i386 x86_64 near far""".split()
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]


def text(r: random.Random) -> str:
    return "".join(r.choice(PIECES) for _ in range(r.randint(1, 6)))


def names(r: random.Random, count: int) -> list[str]:
    """Different names that Python takes for names and the language has no meaning for."""
    import keyword
    import unicodedata

    found: dict[str, None] = {}
    while len(found) < count:
        name = unicodedata.normalize("NFKC", r.choice(NAMES))
        if name.isidentifier() and not keyword.iskeyword(name) and not keyword.issoftkeyword(name):
            found[name] = None
    return list(found)


def program(seed: int) -> tuple[str, str]:
    """A module's text, and the name of its function."""
    r = random.Random(seed)
    f, x, y, k, total, n = names(r, 6)
    message, shown = text(r), text(r)
    lines = [
        "import atoll as at",
        f"{n} = at.sizes({n!r})",
        f"def {f}({x}: at.f64[{n}], {y}: at.f64[{n}], {k}: at.i64) -> at.f64:",
        f"    assert {k} > 2, {message!a}",
        f"    {total} = 0.0",
        f"    for i_ in range({n}):",
        f"        {total} = {total} + {x}[i_] * {y}[i_]",
        f"    print({shown!a}, {k})",
        f"    return {total} * {r.choice(['1.5', '-0.0', '1e308', '5e-324', '3'])}",
    ]
    return "\n".join(lines) + "\n", f


def outcome(call: Any, *args: Any) -> str:
    """A value, or an error's first line and class."""
    import atoll as at

    try:
        return repr(float(call(*args)))
    except at.Error as error:
        return f"{type(error).__name__} {error.code} {error.message}"


def check(seed: int, folder: Path, called: bool = True) -> list[str]:
    """What is wrong with a seed's program; nothing, when it is refused with an error of ours."""
    import contextlib
    import io

    import numpy as np

    import atoll as at

    source, name = program(seed)
    try:
        f = at.fn(source=source)
        f.core  # noqa: B018  everything that can be refused is refused here
    except at.Error as error:
        return [] if str(error) else ["an error without a text"]
    wrong = []
    if called:
        args = (np.ones(3), np.arange(3.0))
        for k in (1, 5):
            printed = [io.StringIO(), io.StringIO()]
            with contextlib.redirect_stdout(printed[0]):
                first = outcome(f.compile("0").call, *args, k)
            with contextlib.redirect_stdout(printed[1]):
                second = outcome(f.interpret, *args, k)
            if first != second or printed[0].getvalue() != printed[1].getvalue():
                wrong.append(f"compiled {first!r} {printed[0].getvalue()!r}, interpreted {second!r} {printed[1].getvalue()!r}")
    files = f.export_c(folder)
    source_file = next(p for p in files if p.suffix == ".c" and not p.stem.endswith("_example"))
    for path in (p for p in files if p.suffix == ".c"):
        done = subprocess.run(["gcc", *STRICT, "-c", str(path), "-o", str(folder / "x.o")], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            wrong.append(done.stderr[:1000])
        elif path == source_file:
            defined = {line.split()[-1] for line in subprocess.run(["nm", "--defined-only", "-g", str(folder / "x.o")], capture_output=True, text=True, check=True).stdout.splitlines()}
            if defined != {source_file.stem, f"{source_file.stem}_error"}:
                wrong.append(f"symbols {sorted(defined)}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile", description=__doc__)
    parser.add_argument("--seeds", default="0:50")
    options = parser.parse_args()
    low, _, high = options.seeds.partition(":")
    bad = 0
    for seed in range(int(low), int(high)):
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        try:
            for what in check(seed, folder):
                bad += 1
                print(f"seed {seed}: {what}\n{program(seed)[0]}")
        except Exception as error:  # noqa: BLE001  anything but our own errors is what is looked for
            bad += 1
            print(f"seed {seed}: {type(error).__name__}: {error}\n{program(seed)[0]}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{int(high) - int(low)} programs, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
