"""Whole modules: `generate(seed)` gives the text of one, its last function the entry."""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass

from .expressions import SAFE_ARGUMENT
from .model import (
    COMPLEX,
    FLOATS,
    I64,
    INTS,
    NARROW,
    WIDE,
    Array,
    Helper,
    Num,
    Record,
    Scalar,
    Size,
    Tuple,
    Type,
    Var,
    has_floats,
    leaf_dtypes,
    shape,
    sizes_of,
)
from .statements import Statements

RISKS = ("index", "division", "assert", "empty", "cast", "shift", "twice", "range", "size", "power")
HEADER = """import numpy as np
import atoll as at
from atoll import i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128
n, m, k1 = at.sizes("n m k1")
"""
INPUT = Num(3, 2)  # multiples of 1/4 up to 8: inputs.py


@dataclass(frozen=True)
class Program:
    seed: int
    text: str
    risk: str


class Generator(Statements):
    """One module; `program` writes it."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        palette = _palette(rng)
        narrow = any(d in ("f32", "c64") for d in palette)
        risk = rng.choice(RISKS) if rng.random() < 0.25 else ""
        super().__init__(rng, NARROW if narrow else WIDE, palette, risk)
        self.seed = seed
        self.lines = []

    def program(self) -> Program:
        head = HEADER + "".join(self._constants()) + "".join(self._record())
        constants = list(self.vars)
        text = head
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            text += self._helper(constants)
        text += self._main(constants)
        return Program(self.seed, _tidy(text), self.risk)

    # -- what stands before the functions

    def _constants(self) -> list[str]:
        found = []
        if self.chance(0.25):
            found.append("K1 = 3\n")
            self.integers = [("K1", 3)]
        if self.chance(0.25):
            dtype = self.rng.choice([d for d in self.palette if d not in COMPLEX])
            items = [self.rng.choice((0, 1, 2, 3, 5)) for _ in range(3)]
            found.append(f"W1 = np.array({items}, dtype=np.{_numpy(dtype)})\n")
            self.vars.append(Var("W1", Array(Scalar(dtype), Size.of(3)), INPUT, -1, True))
        if self.chance(0.15):
            dtype = self.rng.choice([d for d in self.palette if d in INTS + FLOATS])
            found.append(f"Q1 = np.{_numpy(dtype)}(2)\n")
            self.vars.append(Var("Q1", Scalar(dtype), INPUT, -1, True))
        return found

    def _record(self) -> list[str]:
        if not self.chance(0.25):
            return []
        one, two = (Scalar(self.rng.choice(self.palette)) for _ in range(2))
        second: Type = Array(two, Size.of("n")) if self.chance(0.5) else two
        self.records = [Record("R1", (("x", one), ("y", second)))]
        return [f"@at.record\nclass R1:\n    x: {one}\n    y: {second}\n"]

    def _open(self, variables: list[Var], sizes: list[Size], fuel: int) -> None:
        self.vars, self.base_sizes, self.fuel, self.lines = list(variables), sizes, fuel, []
        self.nest = self.level = 0
        self.indent = 1

    def _helper(self, constants: list[Var]) -> str:
        """A small function others call."""
        records, self.records = self.records, []
        scalars = [Scalar(self.rng.choice(self.palette)) for _ in range(self.rng.choice((1, 2)))]
        form = self.rng.choice(("scalar", "scalar", "reduce", "array"))
        params: list[Type] = list(scalars)
        if form != "scalar":
            params[0] = Array(scalars[0], Size.of("n"))
        result: Type = self.rng.choice(scalars) if form != "array" else Array(self.rng.choice(scalars), Size.of("n"))
        names = [Var(self.name("p"), t, SAFE_ARGUMENT if has_floats(t) else Num(0), 0) for t in params]
        self._open([*constants, *names], [Size.of("n")] if form != "scalar" else [], 25)
        risk, self.risk = self.risk, ""
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            self.statement(2)
        code = self.value(result, 2)
        self.risk, self.records = risk, records
        name = self.name("h")
        shown = ", ".join(f"{v.name}: {v.type}" for v in names)
        arrow = f" -> {result}" if self.chance(0.5) else ""
        if form != "array":  # the type of an array result mentions the caller's sizes
            self.helpers.append(Helper(name, tuple(params), result, code.num))
        return f"@at.fn\ndef {name}({shown}){arrow}:\n" + "\n".join([*self.lines, f"    return {code.text}"]) + "\n"

    # -- the entry

    def _main(self, constants: list[Var]) -> str:
        params = self._params()
        base = list(dict.fromkeys(s for v in params for s in sizes_of(v.type) if s.constant is None))
        if any("n" in s.atoms for s in base):
            base += [Size.of("n"), Size.of("n") + 1]
        self._open([*constants, *params], base or [Size.of(2)], self.rng.choice((60, 120, 200)))
        for _ in range(self.rng.choice((2, 3, 4, 5, 7, 9))):
            self.statement(self.rng.choice((2, 3, 3, 4)))
        shown = ", ".join(f"{v.name}: {v.type}" for v in params)
        results = self._results(constants)
        lines = list(self.lines)
        if self.chance(0.12):
            early = [self.value(v.type, 1).text for v in results if not any("len(" in a for s in sizes_of(v.type) for a in s.atoms)]
            if len(early) == len(results):
                test = self.scalar("bool", 2).text
                lines += [f"    if {test}:", f"        return {_returned(early)}"]
        lines.append(f"    return {_returned([v.name for v in results])}")
        return f"@at.fn\ndef f({shown}):\n" + "\n".join(lines) + "\n"

    def _params(self) -> list[Var]:
        n, m = Size.of("n"), Size.of("m")
        axis = [n, n, n, m, m, n + 1, n + 2, n * 2, Size.of(3), m + 1]
        found: list[Var] = []
        for _ in range(self.rng.choice((1, 2, 3, 3, 4))):
            one = Scalar(self.rng.choice([*self.palette, "bool"]))
            kind = self.rng.choices(("scalar", "array", "matrix", "cube", "tuple", "tuples", "record", "size"), (2, 6, 2, 0.3, 0.5, 0.7, 0.8, 0.4))[0]
            name = f"p{len(found)}"
            t: Type = one
            if kind == "array":
                t = Array(one, self.rng.choice(axis))
            elif kind == "matrix":
                t = Array(Array(one, self.rng.choice(axis)), self.rng.choice(axis))
            elif kind == "cube":
                t = Array(Array(Array(one, Size.of(2)), n), Size.of(3))
            elif kind == "tuple":
                t = Tuple((one, Array(Scalar(self.rng.choice(self.palette)), n)))
            elif kind == "tuples":
                t = Array(Tuple((one, Scalar(self.rng.choice(self.palette)))), n)
            elif kind == "record" and self.records:
                t = self.records[0]
            elif kind == "size" and not any(v.name == "k1" for v in found):
                found.append(Var("k1", I64, frozen=True))
                t = Array(one, Size.of("k1"))
            found.append(Var(name, t, INPUT))
        atoms = {a for v in found for s in sizes_of(v.type) for a in s.atoms}
        if self.records and "n" not in atoms and any("n" in s.atoms for s in sizes_of(self.records[0])):
            found.append(Var(f"p{len(found)}", Array(I64, n), INPUT))
        return found

    def _results(self, constants: list[Var]) -> list[Var]:
        """What is returned: mostly what was made last, so that little is dead."""
        names = {v.name for v in constants}
        made = [v for v in self.vars if v.name not in names and v.below is None and leaf_dtypes(v.type)]
        late = [v for v in made if v.name[0] not in "pk"] or made
        count = min(len(late), self.rng.choice((1, 2, 3, 4, 6)))
        chosen = late[-2:] + self.rng.sample(late, count)
        return [v for v in made if v in chosen]


def _palette(rng: random.Random) -> list[str]:
    """The dtypes of one program: few, so that values meet."""
    common = ["i64", "i32", "f64", "f32"]
    found = [rng.choice(common), rng.choice([*INTS, *FLOATS])]
    if rng.random() < 0.12:
        found.append(rng.choice(COMPLEX))
    if not any(d in INTS for d in found):
        found.append(rng.choice(("i64", "i32", "u8")))
    return list(dict.fromkeys(found))


def _numpy(dtype: str) -> str:
    kind = {"i": "int", "u": "uint", "f": "float", "c": "complex"}[dtype[0]]
    return kind + dtype[1:]


def _returned(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else "(" + ", ".join(parts) + ")"


def _tidy(text: str) -> str:
    """Without needless parentheses."""
    return ast.unparse(ast.parse(text)) + "\n"


def generate(seed: int) -> Program:
    """The program with this number.

    >>> generate(0).text.startswith("import numpy")
    True
    """
    return Generator(seed).program()


__all__ = ["Program", "generate", "shape"]
