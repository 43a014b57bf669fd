"""Copies and temporaries of the thesis' programs, beside what it reports for SCADE's KCG; stack and state bytes, said and measured."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atoll.madl import graph as g
from atoll.madl.api import madl
from atoll.madl.c_file import CFile
from atoll.madl.compiled import Compiled
from atoll.madl.typing import show_type
from bench.madl.steps import EXAMPLES, NAMES
from tests.madl.corpus import P, Q
from tests.madl.harness import last

VECTOR_MATRIX = Q["Q17b"].replace("(u, a)", "(u of [4]int, a of [4][5]int)")
REGISTER = Q["Q37"]

# program, its text, KCG's copies and temporaries where the thesis reports them
ROWS: list[tuple[str, str, str]] = [
    ("vector-matrix 4x5 (fig. 1.13)", VECTOR_MATRIX, "4 copies of 5, an array of 5"),
    ("register 0^4 -> pre x (fig. 4.20b)", REGISTER, "2 copies of 4"),
    *((f"{name} {re.findall(r'let (?:[a-z]+ )?([a-zA-Z_0-9]+)', P[name])[-1]}", P[name], "") for name in P),
]


@dataclass(frozen=True)
class Row:
    program: str
    copies: list[str]
    temporaries: list[str]
    kcg: str


def table() -> list[Row]:
    return [_row(name, last(source), kcg) for name, source, kcg in ROWS]


def _row(name: str, op: Compiled, kcg: str) -> Row:
    names = op.graph.size_names
    copies = [show_type(n.target.type, names) for n in g.scope_nodes(op.graph.body) if isinstance(n, g.Copy)]
    locals_ = [f"{c.name} of {show_type(c.type, names)}" for c in op.layout.chunks if c.role == "local"]
    return Row(name, copies, locals_, kcg)


def bytes_said_and_measured() -> dict[str, dict[str, Any]]:
    """For each real program: stack and state by the macros; the state by sizeof, the frames by the C compiler."""
    found = {}
    for name in NAMES:
        module = madl(EXAMPLES / f"{name}.madl")
        compiled = module._library.operators["fft64" if name == "fft" else name]
        file = CFile(name, [compiled])
        (op,) = file.exported
        with tempfile.TemporaryDirectory() as folder:
            file.write(Path(folder))
            subprocess.run(["cc", "-std=c99", "-O0", "-fstack-usage", "-c", f"{name}.c"], cwd=folder, check=True)
            frames = [int(line.split("\t")[1]) for line in (Path(folder) / f"{name}.su").read_text().splitlines()]
            state = None
            if op.reset is not None:
                text = f'#include "{name}.h"\n#include <stdio.h>\nint main(void) {{ printf("%d", (int)sizeof({name}_state)); return 0; }}\n'
                (Path(folder) / "size.c").write_text(text)
                subprocess.run(["cc", "size.c", "-o", "size"], cwd=folder, check=True)
                state = int(subprocess.run(["./size"], cwd=folder, capture_output=True, text=True, check=True).stdout)
        said = file.state_bytes(op) if op.reset is not None else None
        found[name] = {"stack": file.stack_bytes(op), "frames": frames, "state": str(said) if said is not None else "", "sizeof": state}
    return found
