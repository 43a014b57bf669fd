"""The program of a seed: even seeds are whole modules of the general generator, odd seeds chains of constructs, every second of these over structures."""

from __future__ import annotations

from tests.fuzz.generator import Generator
from tests.fuzz.model import I64, Array, Scalar, Size, Var, has_floats

from .chains import chain
from .structures import structure


class FloatPrograms(Generator):
    """The general generator with f64 and i64 only, no run-time errors, and floats among parameters and results."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.palette = ["f64", "f64", "i64"]
        self.risk = ""
        from tests.fuzz.model import WIDE

        self.precision = WIDE

    def _params(self) -> list[Var]:
        found = super()._params()
        if not any(has_floats(v.type) for v in found):
            from tests.fuzz.generator import INPUT

            found.append(Var(f"p{len(found)}", Array(Scalar("f64"), Size.of("n")), INPUT))
        return found

    def _results(self, constants: list[Var]) -> list[Var]:
        found = super()._results(constants)
        floats = [v for v in self.vars if has_floats(v.type) and v.below is None]
        return found if any(has_floats(v.type) for v in found) or not floats else [*found, floats[-1]]


def text_of(seed: int) -> str:
    if seed % 4 == 3:
        return structure(seed)
    return chain(seed) if seed % 2 else FloatPrograms(seed).program().text


__all__ = ["I64", "text_of"]
