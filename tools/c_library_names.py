"""Writes atoll/backends/c/library_names.txt: macros of the C and POSIX headers, and symbols of libc and libm, that a user's name must not be.

python tools/c_library_names.py      (with gcc and binutils, on Linux; what is there already stays, so lists of several systems add up)
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
    stdnoreturn string strings tgmath threads time uchar wchar wctype unistd fcntl pthread sched sys/stat sys/types""".split()
LIBRARIES = ("c", "m")
OUT = Path(__file__).parents[1] / "atoll" / "backends" / "c" / "library_names.txt"
_PLAIN = re.compile(r"(?!_)(?=.*[a-z])\w+")  # names in capitals and with an underscore first are never used as they are


def _run(*command: str, text: str = "") -> str:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def macros() -> set[str]:
    found: set[str] = set()
    for options in (["-std=c99"], ["-std=gnu11", "-D_GNU_SOURCE"]):
        for header in HEADERS:
            text = subprocess.run(["gcc", *options, "-E", "-dM", "-"], input=f"#include <{header}.h>\n", capture_output=True, text=True, check=False).stdout
            found |= set(re.findall(r"^#define (\w+)", text, re.M))
    return found


def symbols() -> set[str]:
    found: set[str] = set()
    for name in LIBRARIES:
        path = _run("gcc", f"-print-file-name=lib{name}.so.6").strip()
        found |= {line.split()[2].split("@")[0] for line in _run("nm", "-D", "--defined-only", path).splitlines() if len(line.split()) > 2}
    return found


def main() -> None:
    before: dict[str, set[str]] = {"macros": set(), "symbols": set()}
    if OUT.exists():
        for line in OUT.read_text().splitlines():
            kind, _, names = line.partition(": ")
            before[kind] |= set(names.split())
    for kind, new in (("macros", macros()), ("symbols", symbols())):
        before[kind] |= {name for name in new if _PLAIN.fullmatch(name)}
    OUT.write_text("".join(f"{kind}: {' '.join(sorted(names))}\n" for kind, names in before.items()))


if __name__ == "__main__":
    main()
