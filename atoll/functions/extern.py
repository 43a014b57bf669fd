"""Functions of modules compiled before, as operators: their arguments are given away, they may fail, and nothing else is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.core import ir as core
from atoll.functions import ir
from atoll.functions.layout import c_type
from atoll.functions.operators import Operator


@dataclass(frozen=True, slots=True)
class Extern:
    """A C function of another object, and how its parameters and results are held."""

    symbol: str
    params: tuple[ir.Rep, ...]
    results: tuple[ir.Rep, ...]

    def prototype(self) -> str:
        params = ", ".join(["at_heap *", *map(c_type, self.params)])
        if len(self.results) > 1:
            fields = " ".join(f"{c_type(r)} r{k};" for k, r in enumerate(self.results))
            return f"typedef struct {{ {fields} }} {self.symbol}_results;\n{self.symbol}_results {self.symbol}({params});"
        return f"{c_type(self.results[0]) if self.results else 'void'} {self.symbol}({params});"


def extern(node: core.Extern) -> Operator:
    """The operator that calls the function a node names."""
    row = node.unit.function(node.name)
    fn = Extern(row["symbol"], tuple(row["params"]), tuple(row["results"]))
    taken = frozenset(k for k, rep in enumerate(fn.params) if rep in (ir.DATA, ir.ARRAY))

    def means(*args: Any) -> Any:
        raise NotImplementedError(f"{fn.symbol} exists as machine code only")

    return Operator(fn.symbol, fn.params, fn.results, means, pure=False, takes=taken, info=fn)
