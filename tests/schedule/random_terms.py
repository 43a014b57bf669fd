"""Random well-formed terms over two sizes, and their values: what rules are tried on."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from atoll.schedule import term as tm
from atoll.schedule.context import top
from atoll.schedule.denote import evaluate
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import F32, I64, DType

N, M = Sym("n"), Sym("m")
FACTS = (poly(N), poly(M))


class Maker:
    """Random terms over inputs a[n, m], b[m], c[n] and what lets bind on the way."""

    def __init__(self, seed: int, dtype: DType = F32) -> None:
        self.rng = random.Random(seed)
        self.dtype = dtype
        self.inputs: dict[tm.Tensor, tuple[Poly, ...]] = {
            tm.Tensor("a", dtype): (poly(N), poly(M)),
            tm.Tensor("b", dtype): (poly(M),),
            tm.Tensor("c", dtype): (poly(N),),
        }

    def extent(self) -> Poly:
        return self.rng.choice([poly(N), poly(M), poly(2), poly(3), poly(N) + 1, poly(M) + 2, poly(1)])

    def term(self, shape: tuple[Poly, ...], depth: int, syms: tuple[Sym, ...] = (), arrays: dict[tm.Tensor, tuple[Poly, ...]] | None = None) -> tm.Term:
        arrays = dict(self.inputs) if arrays is None else arrays
        r = self.rng
        if depth <= 0 and not shape:
            return self.scalar(2, syms, arrays)
        kinds = ["let", "guard", "sum"] * (depth > 0) + (["gen"] * 4 + ["cat", "plus", "view", "zero"] if shape else ["scalar"] * 3)
        match r.choice(kinds) if depth > 0 else ("gen" if shape else "scalar"):
            case "gen":
                i = Sym(r.choice("ijxy"))
                low = r.choice([poly(0), poly(0), poly(1), poly(N)])
                return tm.Gen(i, low, low + shape[0], self.term(shape[1:], depth - 1, (*syms, i), arrays))
            case "sum":
                i = Sym(r.choice("kpq"))
                high = r.choice([poly(N), poly(M), poly(3), poly(0), *([poly(syms[-1])] if syms else [])])
                return tm.Sum(i, poly(0), high, self.term(shape, depth - 1, (*syms, i), arrays))
            case "guard":
                return tm.guard(tuple(self.condition(syms) for _ in range(r.randint(1, 2))), self.term(shape, depth - 1, syms, arrays))
            case "let":
                inner = tuple(self.extent() for _ in range(r.randint(0, 2)))
                x = tm.Tensor(r.choice(["t", "u"]), self.dtype)
                bound = self.term(inner, depth - 1, syms, arrays)
                return tm.Let(x, bound, self.term(shape, depth - 1, syms, {**arrays, x: inner}))
            case "cat":
                axis = r.randrange(len(shape))
                part = r.choice([poly(0), poly(1), shape[axis]])
                if not any((shape[axis] - part).const() is not None for _ in (0,)) and part.const() == 1:
                    part = poly(0)
                left = (*shape[:axis], part, *shape[axis + 1 :])
                right = (*shape[:axis], shape[axis] - part, *shape[axis + 1 :])
                return tm.Cat(axis, self.term(left, depth - 1, syms, arrays), self.term(right, depth - 1, syms, arrays))
            case "plus":
                return tm.Plus(self.term(shape, depth - 1, syms, arrays), self.term(shape, depth - 1, syms, arrays))
            case "zero":
                return tm.Zero(shape, self.dtype)
            case "view":
                return self.view(shape, depth, syms, arrays)
        return self.scalar(2, syms, arrays)

    def view(self, shape: tuple[Poly, ...], depth: int, syms: tuple[Sym, ...], arrays: dict[tm.Tensor, tuple[Poly, ...]]) -> tm.Term:
        r, axis = self.rng, self.rng.randrange(len(shape))
        op = r.choice(["transpose", "trunc_r", "trunc_l", "pad_r", "reverse", "flatten", "tile"])
        if op == "transpose" and axis + 1 < len(shape):
            inner = (*shape[:axis], shape[axis + 1], shape[axis], *shape[axis + 2 :])
            return tm.Reshape("transpose", axis, None, self.term(inner, depth - 1, syms, arrays))
        if op in ("trunc_r", "trunc_l"):
            k = r.choice([poly(0), poly(1), poly(M)])
            inner = (*shape[:axis], shape[axis] + k, *shape[axis + 1 :])
            return tm.Reshape(op, axis, k, self.term(inner, depth - 1, syms, arrays))
        if op == "pad_r" and shape[axis].constant_term() >= 1:
            inner = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])
            return tm.Reshape("pad_r", axis, poly(1), self.term(inner, depth - 1, syms, arrays))
        if op == "flatten" and shape[axis].const() in (2, 3):
            inner = (*shape[:axis], shape[axis], poly(1), *shape[axis + 1 :])
            return tm.Reshape("flatten", axis, None, self.term(inner, depth - 1, syms, arrays))
        return tm.Reshape("reverse", axis, None, self.term(shape, depth - 1, syms, arrays))

    def condition(self, syms: tuple[Sym, ...]) -> Poly:
        r = self.rng
        i = poly(r.choice(syms)) if syms else poly(N)
        return r.choice([i - 1, poly(M) - 2 - i, i - poly(M), poly(N) - 1 - i, 2 - i, poly(1) - i])

    def index(self, syms: tuple[Sym, ...]) -> Poly:
        r = self.rng
        if not syms or r.random() < 0.2:
            return r.choice([poly(0), poly(1), poly(N) - 1])
        i = poly(r.choice(syms))
        return r.choice([i, i, i, i + 1, i - 1, 2 * i, poly(N) - 1 - i, i // 2])

    def scalar(self, depth: int, syms: tuple[Sym, ...], arrays: dict[tm.Tensor, tuple[Poly, ...]]) -> tm.Term:
        r = self.rng
        kind = r.choice(["get"] * 4 + ["op"] * 3 + ["guard", "choose", "lit"]) if depth > 0 else "get"
        match kind:
            case "op":
                name = r.choice(["add", "add", "mul", "sub"])
                return tm.Op(name, (self.scalar(depth - 1, syms, arrays), self.scalar(depth - 1, syms, arrays)), self.dtype)
            case "guard":
                return tm.guard((self.condition(syms),), self.scalar(depth - 1, syms, arrays))
            case "choose":
                test = tm.Test("ge", self.condition(syms))
                return tm.Choose((test,), self.scalar(depth - 1, syms, arrays), self.scalar(depth - 1, syms, arrays))
            case "lit":
                return tm.Lit(r.choice([0, 1, 2, -3]) * (1 if self.dtype is I64 else 0.5), self.dtype)
        x = r.choice(list(arrays))
        return tm.Get(x, tuple(self.index(syms) for _ in arrays[x]))

    # -- values

    def context(self) -> Any:
        return top(FACTS, self.inputs)

    def values(self, sizes: dict[Any, int], seed: int = 0) -> dict[tm.Tensor, Any]:
        rng = np.random.default_rng(seed)
        found = {}
        for x, shape in self.inputs.items():
            extents = [p.evaluate(sizes) for p in shape]
            data = rng.standard_normal(extents) * 3
            data[rng.random(extents) < 0.1] = -0.0
            found[x] = data.astype(self.dtype.numpy)
        return found


SIZES = [{N: 3, M: 2}, {N: 0, M: 4}, {N: 1, M: 0}, {N: 4, M: 3}, {N: 1, M: 1}]


def same(a: Any, b: Any, licences: frozenset[str]) -> bool:
    """Equal as far as the licences allow."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if licences & {"reassociate", "contract", "rescale"}:
        return bool(np.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True))
    if licences:
        return bool(np.array_equal(a, b, equal_nan=True))
    return a.tobytes() == b.tobytes() or (bool(np.isnan(a).any()) and bool(np.array_equal(a, b, equal_nan=True)))


def agree(maker: Maker, old: tm.Term, new: tm.Term, licences: frozenset[str], facts: tuple[Poly, ...] = FACTS) -> str | None:
    """None, or the sizes at which two terms differ."""
    for k, sizes in enumerate(SIZES):
        if any(f.evaluate(sizes) < 0 for f in facts):
            continue
        arrays = maker.values(sizes, k)
        a, b = evaluate(old, arrays, sizes), evaluate(new, arrays, sizes)
        if not same(a, b, licences):
            return f"{sizes}: {a} {b}"
    return None
