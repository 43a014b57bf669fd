"""λANF as text: one bind a line, functions and joins indented. Names that occur twice get numbers."""

from __future__ import annotations

from atoll.errors import Span
from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.origins import Marks


def show(program: ir.Program | ir.Block, marks: Marks | None = None) -> str:
    """The program as text.

    >>> x = ir.Var("x", ir.INT)
    >>> show(ir.Block((ir.Literal(x, 3),), ir.Ret((x,))))
    'x = 3\\nret x'
    """
    printer = _Printer(marks)
    run(printer.block(program.block if isinstance(program, ir.Program) else program, 0))
    return "\n".join(printer.lines)


class _Printer:
    def __init__(self, marks: Marks | None) -> None:
        self.marks, self.here = marks, ""
        self.lines: list[str] = []
        self.names: dict[ir.Var, str] = {}
        self.count: dict[str, int] = {}

    def name(self, x: ir.Var) -> str:
        if x not in self.names:
            number = self.count.get(x.name, 0)
            self.count[x.name] = number + 1
            self.names[x] = x.name if number == 0 else f"{x.name}_{number}"
        return self.names[x]

    def all(self, xs: ir.Vars) -> str:
        return ", ".join(map(self.name, xs))

    def put(self, depth: int, text: str) -> None:
        self.lines.append(self.here + "  " * depth + text)

    def coming_from(self, *places: Span) -> None:
        """What is printed from now on comes from these places, where they are known."""
        self.here = self.here if self.marks is None else self.marks.mark(places) or self.here

    def block(self, block: ir.Block, depth: int) -> Deep[None]:
        for bind in block.binds:
            self.coming_from(*((bind.span,) if isinstance(bind, ir.Op) and bind.span.line else (x.span for x in ir.bound(bind))))
            match bind:
                case ir.Literal(x, value):
                    self.put(depth, f"{self.name(x)} = {value}")
                case ir.Op(results, op, args):
                    left = f"{self.all(results)} = " if results else ""
                    self.put(depth, f"{left}{op.name}({self.all(args)})")
                case ir.Make(x, con, args):
                    self.put(depth, f"{self.name(x)} = {con}({self.all(args)})")
                case ir.Take(x, value, con, index):
                    self.put(depth, f"{self.name(x)} = {self.name(value)}.{index} of {con}")
                case ir.Call(results, fn, args):
                    left = f"{self.all(results)} = " if results else ""
                    self.put(depth, f"{left}{self.name(fn)}({self.all(args)})")
                case ir.Funs(bundle):
                    for f in bundle:
                        around = self.here
                        self.coming_from(f.span)
                        mark = " (wrapper)" if f.marked else ""
                        self.put(depth, f"fun {self.name(f.name)}({self.all(f.params)}) ={mark}")
                        yield self.block(f.body, depth + 1)
                        self.here = around
                case ir.Join(name, params, body):
                    self.put(depth, f"join {self.name(name)}({self.all(params)}) =")
                    yield self.block(body, depth + 1)
        self.coming_from(*(x.span for x in ir.term_uses(block.term)))
        match block.term:
            case ir.Ret(values):
                self.put(depth, f"ret {self.all(values)}")
            case ir.Tail(fn, args):
                self.put(depth, f"{self.name(fn)}({self.all(args)})")
            case ir.Jump(join, args):
                self.put(depth, f"jump {self.name(join)}({self.all(args)})")
            case ir.Case(value, branches):
                self.put(depth, f"case {self.name(value)} of")
                case = self.here
                for con, inner in branches:
                    self.here = case
                    self.put(depth, f"{con} ->")
                    yield self.block(inner, depth + 1)
