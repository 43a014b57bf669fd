"""Running MADL programs in tests: the oracle, the compiled code, strict C compilers, random arguments."""

from __future__ import annotations

import itertools
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from atoll.madl.api import Module, _single
from atoll.madl.binding import bind
from atoll.madl.compiled import Compiled
from atoll.madl.library import Library
from atoll.madl.meaning import Meaning
from atoll.madl.native import NativeFile
from atoll.madl.oracle import Oracle
from atoll.madl.pieces import leaves_of
from atoll.madl.represented import Enum, Fixed
from atoll.madl.values import dtype_of, nest, shown
from atoll.types.types import SCALARS, Index, Type

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


class NoSizes(AssertionError):
    """No sizes were found that satisfy what an operator requires."""


def load(source: str, **options: Any) -> Library:
    return Library(source, **options)


def last(source: str, **options: Any) -> Compiled:
    """The last operator of a text."""
    return list(load(source, **options).operators.values())[-1]


def pick_sizes(op: Compiled, rng: random.Random, most: int = 5) -> dict[Any, int]:
    """Random sizes that satisfy what the operator requires; small ones often."""
    for _ in range(2000):
        sizes: dict[Any, int] = {sym: rng.choice([0, 1, 2, 3, rng.randint(0, most)]) for sym in op.graph.sizes}
        bounds = [x.type.size for w in op.graph.arguments for x in leaves_of(w.type) if isinstance(x.type, Index)]
        if all(p.evaluate(sizes) >= 0 for p, _, _ in op.graph.requirements) and all(p.evaluate(sizes) > 0 for p in bounds):
            return sizes
    raise NoSizes(op.name)


def random_value(t: Type, number: Any, rng: random.Random, types: dict[Any, Type] | None = None) -> Any:
    parts = {}
    for leaf in leaves_of(t):
        shape = tuple(number(n) for n in leaf.extents)
        count = int(np.prod(shape)) if shape else 1
        dtype = dtype_of(leaf.type, types)
        if isinstance(leaf.type, Index):
            values: list[Any] = [rng.randrange(number(leaf.type.size)) for _ in range(count)]
        elif isinstance(leaf.type, Enum):
            values = [rng.randrange(len(leaf.type.members)) for _ in range(count)]
        elif isinstance(leaf.type, Fixed):
            values = [rng.choice([*dtype.limits(), 0, rng.randint(*dtype.limits())]) for _ in range(count)]
        elif dtype.kind == "b":
            values = [rng.random() < 0.5 for _ in range(count)]
        elif dtype.is_float:
            values = [rng.randint(-40, 40) / 4 for _ in range(count)]
        else:
            values = [rng.randint(1, 9) for _ in range(count)]
        array = np.array(values, dtype.numpy).reshape(shape)
        parts[leaf.components] = array if shape else array[()]
    return nest(t, parts, ())


def random_inputs(op: Compiled, sizes: dict[Any, int], rng: random.Random, cycles: int) -> list[tuple[Any, ...]]:
    types = default_types(op)
    return [
        tuple(random_value(w.type, lambda p: p.evaluate(sizes), rng, types) for w in op.graph.arguments) for _ in range(cycles)
    ]


def default_types(op: Compiled) -> dict[Any, Type]:
    return {g: SCALARS["f64" if g.family in ("float", "real") else "i32"] for g in op.graph.generics}


def by_oracle(op: Compiled, sizes: dict[Any, int], inputs: list[tuple[Any, ...]]) -> list[list[Any]]:
    return Oracle(op, dict(sizes), default_types(op)).run(inputs)


def by_meaning(library: Library, op: Compiled, sizes: dict[Any, int], inputs: list[tuple[Any, ...]], wanted: list[list[Any]]) -> list[list[Any]]:
    """What the text means, without the compiler's types, places and order (meaning.py); of `wanted` only the shapes are used, for sizes that only results have."""
    meaning = Meaning(library, op.name, {op.graph.size_names[sym]: n for sym, n in sizes.items()})
    return [meaning.step(*args, like=row) for args, row in zip(inputs, wanted, strict=True)]


def by_code(op: Compiled, sizes: dict[Any, int], inputs: list[tuple[Any, ...]]) -> list[list[Any]]:
    """The compiled operator, through the same path as calls from Python."""
    types = tuple(default_types(op).values())
    native = NativeFile([(op, types)]).operator(op, types)
    given = {op.graph.size_names[sym]: n for sym, n in sizes.items()}
    state = native.allocate(("state",), dict(sizes))
    native.reset(state, dict(sizes))
    wires = op.graph.arguments
    return [native.run(bind(op, tuple(shown(w.type, a) for w, a in zip(wires, args, strict=True)), given, types), state) for args in inputs]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind == "f"))


def agree(op: Compiled, seed: int = 0, cycles: int = 3, code: bool = True, most: int = 5) -> list[list[Any]]:
    """Run an operator under the oracle (it must not get stuck) and as code; both must give the same."""
    rng = random.Random(seed)
    sizes = pick_sizes(op, rng, most)
    inputs = random_inputs(op, sizes, rng, cycles)
    wanted = by_oracle(op, sizes, inputs)
    if code:
        assert same(by_code(op, sizes, inputs), wanted), f"{op.name}: code and oracle differ"
    return wanted


def call(op: Compiled, *args: Any, sizes: dict[str, int] | None = None, cycles: int = 1, code: bool = True) -> Any:
    """The results of an operator on given arguments, cycle by cycle; oracle and code must agree."""
    types = default_types(op)
    given = bind(op, args, sizes or {}, tuple(types.values()))
    inputs = [tuple(nest(w.type, parts, ()) for w, parts in zip(op.graph.arguments, given.leaves, strict=True))] * cycles
    wanted = by_oracle(op, given.sizes, inputs)
    if code:
        assert same(by_code(op, given.sizes, inputs), wanted)
    found = [_single(r) for r in wanted]
    return found if cycles > 1 else found[0]


def strict_compile(text: str, header: str, name: str, folder: Path, *, extra: list[str] | None = None, example: str | None = None, compiler: str = "cc") -> Path:
    """Compile with every warning an error; returns the object, or the program when there is an example."""
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(text)
    files = [f"{name}.c"]
    output = folder / f"{name}.o"
    command = [compiler, *STRICT, "-O1", *(extra or [])]
    if example is not None:
        (folder / f"{name}_example.c").write_text(example)
        files.append(f"{name}_example.c")
        output = folder / f"{name}_example"
        command += [*files, "-o", output.name, "-lm"]
    else:
        command += ["-c", *files, "-o", output.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000] + text[:100]
    return output


def undefined_symbols(object_file: Path) -> set[str]:
    done = subprocess.run(["nm", "-u", object_file.name], cwd=object_file.parent, capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines()}


def module(source: str) -> Module:
    from atoll.madl.api import madl

    return madl(source=source)


def all_sizes(op: Compiled, most: int) -> list[dict[Any, int]]:
    found = []
    for values in itertools.product(range(most + 1), repeat=len(op.graph.sizes)):
        sizes: dict[Any, int] = dict(zip(op.graph.sizes, values, strict=True))
        if all(p.evaluate(sizes) >= 0 for p, _, _ in op.graph.requirements):
            found.append(sizes)
    return found
