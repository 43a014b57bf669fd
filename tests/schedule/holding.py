"""A schedule holds: the terms before and after, the checked executor, the compiled program and the function itself agree, bit for bit
as far as its licences say, and the independent checker accepts its certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll.check import verified
from atoll.check.assumptions import library_functions
from atoll.check.prove import prove
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops.execute import execute
from atoll.runtime.arguments import from_python
from atoll.schedule.denote import evaluate
from tests.agreement import flat
from tests.agreement import same as close
from tests.schedule.random_terms import same


def given(s: Any, args: tuple[Any, ...]) -> tuple[list[Any], dict[Any, int], dict[Any, Any]]:
    """(leaves of the arguments, sizes, arrays of the term)."""
    core = s.function.core
    values = from_python(core, s.function._arguments(args, {}))
    sizes = dict(bind_call(core, values))
    inputs = [leaf for x in values for leaf in leaves(x)]
    arrays = {x: x.value for x in s.source.inputs if x.value is not None}
    for line, leaf in zip(s.source.program.inputs, inputs, strict=True):
        if line in s.source.params:
            sizes[s.source.params[line]] = int(leaf)
        else:
            arrays[s.source.tensors[line]] = leaf
    return inputs, sizes, arrays


def holds(s: Any, *arguments: tuple[Any, ...], terms: bool = True, certificate: bool = True, optimise: str = "3") -> Any:
    """Check a schedule at each tuple of arguments; gives the compiled program."""
    fast, plain = s.compile(optimise), at.schedule(s.function).compile(optimise)
    for args in arguments:
        inputs, sizes, arrays = given(s, args)
        wanted = s.function.interpret(*args)
        found = flat(fast(*args))
        close(tuple(found), wanted, "compiled and interpreted")
        for x, y in zip(flat(plain(*args)), found, strict=True):
            allowed = s.licences | ({"contract"} if library_functions(s.program) else set())  # vector versions differ in the last bits
            assert same(x, y, allowed), f"compiled differs at {sizes}: {x} {y}"
        small = sum(np.size(x) for x in inputs) < 1000  # the slow references are asked at small sizes only
        for piece in (1, 1000) if small else ():
            ran = execute(s.lowered.function, inputs, {k: v for k, v in sizes.items() if k in s.source.program.sizes}, piece)
            for a, b in zip(ran, found, strict=True):
                close(np.asarray(a), np.asarray(b), "executor")
        if terms and small:
            before = evaluate(s.theorem.source, arrays, sizes)
            assumed = all(f.evaluate(sizes) >= 0 for f in s.theorem.facts)
            after = evaluate(s.theorem.term, arrays, sizes) if assumed else before
            for x, y in zip(flat(before), flat(after), strict=True):
                assert same(x, y, s.licences), f"terms differ at {sizes}: {x} {y}"
    if certificate:
        certified(s)
    return fast


def certified(s: Any) -> None:
    """The independent checker accepts it, and so does the one that is proved in Coq, where it is built (`make proofs`)."""
    made = s.certificate()
    made.check()
    if verified.program() is not None:
        prove(made.data, verified=True)
