"""The shape of generated C, in a short form: types, qualifiers and needless braces left out.

    for i<5 for j<3 {c[i][j]=0; for k<7 c[i][j]+=a[i][k]*b[k][j];}
"""

from __future__ import annotations

import re

from atoll.madl.c_file import CFile, Options
from atoll.madl.compiled import Compiled

_FOR = re.compile(r"for \(\w+ (\w+) = (.*?); \w+ < (.*?); \w+\+\+\) \{")
_LOCAL = re.compile(r"(?:u?int\d+_t|float|double|bool) (\w+(?:\[\d+\])*);")


def functions(op: Compiled) -> dict[str, str]:
    """The text of each function of an operator and what it calls, by name."""
    file = CFile("madl", [op], Options(wrap=False))
    found = {}
    for lowered in file.lowered.operators.values():
        for fn in (lowered.cycle, lowered.reset):
            if fn is not None:
                found[fn.name.removesuffix("_cycle")] = file.functions[id(fn)]
    return found


def head(op: Compiled) -> str:
    """`dot(n, *u, *v, *s)`: the parameters of the function that computes, without types."""
    first = functions(op)[op.name.replace("'", "_")].splitlines()[0]
    name, params = re.match(r"void (\w+?)(?:_cycle)?\((.*)\) \{", first).groups()  # type: ignore[union-attr]
    shown = [re.sub(r"\[restrict ", "[", p).removeprefix("const ").split(" ", 1)[-1].replace("*restrict ", "*") for p in params.split(", ")]
    return f"{name}({', '.join(p for p in shown if p != 'void')})"


def shape(op: Compiled, name: str | None = None) -> str:
    """The body of a function."""
    lines = [line.strip() for line in functions(op)[name or op.name.replace("'", "_")].splitlines()[1:-1]]
    statements, _ = _block([line for line in lines if not re.match(r"\(void\)\w+;", line)], 0)
    return " ".join(statements)


def _block(lines: list[str], at: int) -> tuple[list[str], int]:
    found: list[str] = []
    while at < len(lines) and lines[at] != "}":
        line = lines[at]
        loop = _FOR.fullmatch(line)
        if loop or line.startswith(("if ", "else ")):
            inner, at = _block(lines, at + 1)
            body = inner[0] if len(inner) == 1 else "{" + " ".join(inner) + "}"
            if loop:
                name, low, high = loop.groups()
                bound = f"{name}<{_tight(high)}" if low == "0" else f"{name}={_tight(low)}..{int(high) - 1 if high.isdigit() else _tight(high) + '-1'}"
                found.append(f"for {bound} {body}")
            else:
                found.append(f"{_tight(line[:-2])} {body}" if line.startswith("if") else f"else {body}")
        elif local := _LOCAL.fullmatch(line):
            found.append(f"int {local.group(1)};")
        else:
            found.append(_tight(line))
        at += 1
    return found, at


def _tight(text: str) -> str:
    text = re.sub(r"\(size_t\)\((.*?)\) \* sizeof\(\w+\)", r"\1", text)
    text = re.sub(r"sizeof\(\w+\[(\d+)\]\)", r"\1", text)
    return text.replace("(void)memcpy", "memcpy").replace(" ", "").replace("if(", "if (")


def count_copies(op: Compiled) -> int:
    """Copies in the text: memcpy, assignments from memory, and loops that only copy are one each (static `!`)."""
    from atoll.madl import graph as g

    return sum(isinstance(node, g.Copy) for node in g.scope_nodes(op.graph.body))


def temporaries(op: Compiled) -> list[str]:
    return sorted(c.name for c in op.layout.chunks if c.role == "local")
