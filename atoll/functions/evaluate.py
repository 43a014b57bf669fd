"""The reference meaning of λANF: big steps with fuel and a trace (docs/sources.md, CertiCoq).

Every bind and every term costs one unit of fuel; **definitions of functions and joins are free** (otherwise hoisting, which executes fewer
definitions, would break c1 <= c2). Too little fuel gives OUT_OF_TIME. The trace counts applications, tail or not; jumps are not
applications. A program diverges when it is out of time for every fuel.

Values: numbers are NumPy scalars, `Cell(constructor, fields)`, closures (`Closure`, or a cell of CLOSURE after conversion).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.functions import ir
from atoll.functions.closure_convert import CLOSURE
from atoll.types.dtypes import DTYPES


class Cell:
    """A constructed value."""

    __slots__ = ("con", "fields")

    def __init__(self, con: ir.Constructor, fields: tuple[Any, ...]) -> None:
        self.con, self.fields = con, fields


class Frame:
    """The variables of one activation, and those around it."""

    __slots__ = ("names", "outer")

    def __init__(self, outer: Frame | None) -> None:
        self.names: dict[ir.Var, Any] = {}
        self.outer = outer

    def __getitem__(self, x: ir.Var) -> Any:
        frame: Frame | None = self
        while frame is not None:
            if x in frame.names:
                return frame.names[x]
            frame = frame.outer
        raise KeyError(x)


class Closure:
    """A function with the variables around its definition."""

    __slots__ = ("frame", "fun")

    def __init__(self, fun: ir.Fun, frame: Frame) -> None:
        self.fun, self.frame = fun, frame


@dataclass(frozen=True, slots=True)
class Outcome:
    """`values` is None when time ran out. `closures` counts closure cells built, after conversion."""

    values: tuple[Any, ...] | None
    fuel: int
    trace: int
    cells: int
    closures: int

    @property
    def out_of_time(self) -> bool:
        return self.values is None


def evaluate(program: ir.Program, fuel: int = 10**7, args: tuple[Any, ...] = ()) -> Outcome:
    """Run the program on these arguments with this much fuel."""
    frame = Frame(None)
    frame.names.update(zip(program.params, args, strict=True))
    return _Machine(fuel).run(program.block, frame)


class _Machine:
    def __init__(self, fuel: int) -> None:
        self.fuel = self.given = fuel
        self.trace = self.cells = self.closures = 0
        self.joins: dict[ir.Var, ir.Join] = {}

    def outcome(self, values: tuple[Any, ...] | None) -> Outcome:
        return Outcome(values, self.given - self.fuel, self.trace, self.cells, self.closures)

    def run(self, block: ir.Block, frame: Frame) -> Outcome:
        stack: list[tuple[ir.Block, int, Frame, ir.Vars]] = []
        position = 0
        while True:
            if position < len(block.binds):
                bind = block.binds[position]
                position += 1
                if isinstance(bind, ir.Funs):
                    for f in bind.bundle:
                        frame.names[f.name] = Closure(f, frame)
                    continue
                if isinstance(bind, ir.Join):
                    self.joins[bind.name] = bind
                    continue
                if self.fuel <= 0:
                    return self.outcome(None)
                self.fuel -= 1
                if isinstance(bind, ir.Call):
                    stack.append((block, position, frame, bind.results))
                    block, frame = self.enter(frame[bind.fn], tuple(frame[y] for y in bind.args))
                    position = 0
                else:
                    self.step(bind, frame)
                continue
            if self.fuel <= 0:
                return self.outcome(None)
            self.fuel -= 1
            match block.term:
                case ir.Ret(values):
                    results = tuple(frame[y] for y in values)
                    if not stack:
                        return self.outcome(results)
                    block, position, frame, names = stack.pop()
                    if len(names) != len(results):
                        raise TypeError(f"{len(results)} results for {names}")
                    frame.names.update(zip(names, results, strict=True))
                    continue
                case ir.Tail(fn, args):
                    block, frame = self.enter(frame[fn], tuple(frame[y] for y in args))
                case ir.Jump(join, args):
                    target = self.joins[join]
                    arguments = [frame[y] for y in args]
                    frame.names.update(zip(target.params, arguments, strict=True))
                    block = target.body
                case ir.Case(value, branches):
                    con = constructor_of(frame[value])
                    block = next(inner for c, inner in branches if c is con)
            position = 0

    def enter(self, callee: Any, args: tuple[Any, ...]) -> tuple[ir.Block, Frame]:
        self.trace += 1
        if not isinstance(callee, Closure):
            raise TypeError(f"{callee!r} is not a function")
        if len(args) != len(callee.fun.params):
            raise TypeError(f"{callee.fun.name} takes {len(callee.fun.params)} arguments, not {len(args)}")
        frame = Frame(callee.frame)
        frame.names.update(zip(callee.fun.params, args, strict=True))
        return callee.fun.body, frame

    def step(self, bind: ir.Bind, frame: Frame) -> None:
        match bind:
            case ir.Literal(x, value):
                frame.names[x] = DTYPES[x.rep].numpy.type(value) if x.rep in DTYPES else value
            case ir.Make(x, con, args):
                frame.names[x] = self.make(con, tuple(frame[y] for y in args))
            case ir.Take(x, value, con, index):
                cell = frame[value]
                if cell.con is not con:
                    raise TypeError(f"field {index} of {con}, but the value was made by {cell.con}")
                frame.names[x] = cell.fields[index]
            case ir.Op(results, op, args):
                value = op.means(*(frame[y] for y in args))
                if len(results) == 1:
                    frame.names[results[0]] = value
                else:
                    frame.names.update(zip(results, value, strict=True))

    def make(self, con: ir.Constructor, fields: tuple[Any, ...]) -> Any:
        if con.data is ir.BOOL:
            return np.bool_(con is ir.TRUE)
        constant = con is CLOSURE and isinstance(fields[1], Cell) and fields[1].con is ir.UNIT
        if fields and not constant:
            self.cells += 1
            self.closures += con is CLOSURE
        return Cell(con, fields)


def constructor_of(value: Any) -> ir.Constructor:
    if isinstance(value, (np.bool_, bool)):
        return ir.TRUE if value else ir.FALSE
    assert isinstance(value, Cell), value
    return value.con


def observe(value: Any) -> Any:
    """What can be seen of a value from outside: all of it, except that functions look alike."""
    if isinstance(value, Closure) or (isinstance(value, Cell) and value.con is CLOSURE):
        return "function"
    if isinstance(value, tuple):
        return tuple(map(observe, value))
    if isinstance(value, Cell):
        spine: list[Any] = []  # lists are long: go down the last field without recursion
        while isinstance(value, Cell) and value.fields and value.con is not CLOSURE:
            spine.append((value.con.name, tuple(map(observe, value.fields[:-1]))))
            value = value.fields[-1]
        return (*spine, observe(value) if not (isinstance(value, Cell) and not value.fields) else value.con.name)
    return value.item() if isinstance(value, np.generic) else value
