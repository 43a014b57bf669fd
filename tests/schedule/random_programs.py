"""Random small programs worth scheduling: stages over vectors and matrices that shift, guard, sum and choose, as text."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f32, maximum, minimum, prod, reduce, add, scan, hist, sort, exp\nn, m, k = at.sizes('n m k')\n\n"


TOTALS = [
    "sum({0} for {1} in range(k))",
    "sum({0} for {1} in range(k))",
    "reduce(maximum, -50.0, [{0} for {1} in range(k)])",
    "reduce(minimum, 50.0, [{0} if {1} < n else 0.0 for {1} in range(k)])",
    "reduce(maximum, -50.0, [{0} - 30.0 if {1} >= 2 else 0.0 for {1} in range(k)])",
    "prod({0} for {1} in range(k))",
]


ROUNDS = [
    "[scan(add, 0.0, a[i]) for i in range(n)]",
    "[scan(maximum, -9.0, [a[i, p] * 2.0 for p in range(k)]) for i in range(n)]",
    "[scan(lambda s, z: 0.5 * s + z, 1.0, a[i]) for i in range(n)]",
    "[sort(a[i]) for i in range(n)]",
    "[hist(add, 0.0, k, [k - 1 - p for p in range(k)], a[i]) for i in range(n)]",
    "[after(a[i]) for i in range(n)]",
    "[after([2.0 * z for z in scan(minimum, 3.0, a[i])]) for i in range(n)]",
]


SCORES = ["a[i, p]", "(2.0 * a[i, p])", "(a[i, p] - u[p])", "(a[i, p] if p > i else -3.0)", "(a[i, p] * u[p])"]


class Program:
    """A function, and arguments for it at given sizes."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.total = random.Random(f"operator {seed}").choice(TOTALS)
        self.text = HEAD + (self._rounds(random.Random(f"rounds {seed}")) if seed % 5 == 4 else self._exponentials(random.Random(f"exponentials {seed}")) if seed % 10 == 7 else self._matrix() if self.rng.random() < 0.6 else self._vector())
        self.function: Any = at.fn(source=self.text)

    def arguments(self, rng: random.Random) -> tuple[Any, ...]:
        sizes = {name: rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 9]) for name in "nmk"}
        data = np.random.default_rng(rng.randrange(1 << 30))
        shapes = {"x": (sizes["n"] + 2, sizes["m"] + 2), "a": (sizes["n"], sizes["k"]), "b": (sizes["k"], sizes["m"]), "v": (sizes["n"] + 2,), "u": (sizes["k"],)}
        wanted = [name for name in shapes if f"{name}: f32" in self.text]
        return tuple(data.integers(-4, 5, shapes[name]).astype(np.float32) for name in wanted)

    # -- opaque parts with independent rounds

    def _rounds(self, r: random.Random) -> str:
        made = r.choice(ROUNDS)
        lines = ["def f(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:"]
        if "after(" in made:
            lines += ["    def after(row):", "        x = row", "        for s in range(2):", "            x = [x[p] + (x[p - 1] if p >= 1 else 1.0) for p in range(k)]", "        return x"]
        lines.append(f"    h = {made}")
        read = r.choice(["h[i, p]", "h[i, p]", "(h[i, p] + (h[i - 1, p] if i >= 1 else 0.0))", "h[i, k - 1 - p]"])
        lines.append(f"    return [[{self.total.format(f'{read} * b[p, j]', 'p')} for j in range(m)] for i in range(n)]")
        return "\n".join(lines) + "\n"

    # -- sums of exponentials, with the maximum of a row

    def _exponentials(self, r: random.Random) -> str:
        score = r.choice(SCORES)
        lines = ["def f(a: f32[n, k], b: f32[k, m], u: f32[k]) -> f32[n, m]:"]
        lines.append(f"    top = [reduce(maximum, -50.0, [{score} for p in range(k)]) for i in range(n)]")
        lines.append(f"    l = [1.0 + sum(exp({score} - top[i]) for p in range(k)) for i in range(n)]")
        weight = f"exp({score} - top[i])"
        term, whole = r.choice([(f"{weight} * b[p, j]", " / l[i]"), (f"{weight} / l[i] * b[p, j]", ""), (f"b[p, j] * ({weight} * u[p])", " + l[i]"), (f"{weight} * (b[p, j] + 1.0)", " * top[i]")])
        lines.append(f"    return [[sum({term} for p in range(k)){whole} for j in range(m)] for i in range(n)]")
        return "\n".join(lines) + "\n"

    # -- one axis

    def _vector(self) -> str:
        r = self.rng
        lines = ["def f(v: f32[n + 2], u: f32[k]) -> f32[n]:"]
        sources = [("v", 2)]
        for stage in range(r.randint(0, 2)):
            name = "pqr"[stage]
            lines.append(f"    {name} = [{self._scalar(sources, ['i'])} for i in range(n + 2)]".replace("n + 2)]", "n)]"))
            sources.append((name, 0))
        body = self._scalar(sources, ["i"])
        if r.random() < 0.5:
            body += " + " + self.total.format(f"u[s] * {self._read(sources, ['i'])}", "s")
        lines.append(f"    return [{body} for i in range(n)]")
        return "\n".join(lines) + "\n"

    # -- two axes

    def _matrix(self) -> str:
        r = self.rng
        if r.random() < 0.35:
            inner = r.choice(["a[i, p] * b[p, j]", "a[i, p] * b[p, j] + 1.0", "a[i, p] - b[p, j]", "(a[i, p] if p > i else 0.0) * b[p, j]"])
            total = self.total.format(inner, "p")
            tail = r.choice(["", " * 2.0", " + a[i, 0] if k > 0 else 0.0"])
            lines = ["def f(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:"]
            if tail.startswith(" +"):
                tail = ""
            if r.random() < 0.3:
                lines.append(f"    c = [[{total}{tail} for j in range(m)] for i in range(n)]")
                lines.append("    return [[c[i, j] + (c[i - 1, j] if i >= 1 else 0.0) for j in range(m)] for i in range(n)]")
            else:
                lines.append(f"    return [[{total}{tail} for j in range(m)] for i in range(n)]")
            return "\n".join(lines) + "\n"
        lines = ["def f(x: f32[n + 2, m + 2]) -> f32[n, m]:"]
        sources = [("x", 2)]
        for stage in range(r.randint(0, 2)):
            name = "pqr"[stage]
            lines.append(f"    {name} = [[{self._scalar(sources, ['i', 'j'])} for j in range(m)] for i in range(n)]")
            sources.append((name, 0))
        lines.append(f"    return [[{self._scalar(sources, ['i', 'j'])} for j in range(m)] for i in range(n)]")
        return "\n".join(lines) + "\n"

    def _scalar(self, sources: list[tuple[str, int]], axes: list[str]) -> str:
        r = self.rng
        parts = [self._read(sources, axes) for _ in range(r.randint(1, 3))]
        text = parts[0]
        for part in parts[1:]:
            text = f"{text} {r.choice('+-*')} {part}"
        return f"({text})"

    def _read(self, sources: list[tuple[str, int]], axes: list[str]) -> str:
        """A read in range: within the border of an argument, or guarded."""
        r = self.rng
        name, border = r.choice(sources)
        if border:
            return f"{name}[{', '.join(axis + r.choice(['', ' + 1', ' + 2']) for axis in axes)}]"
        shifts = {axis: r.choice([0, 0, -1, 1]) for axis in axes}
        index = ", ".join(axis if not d else f"{axis} {'+' if d > 0 else '-'} 1" for axis, d in shifts.items())
        extents = {"i": "n", "j": "m"}
        tests = [f"{axis} >= 1" if d < 0 else f"{axis} + 1 < {extents[axis]}" for axis, d in shifts.items() if d]
        return f"({name}[{index}] if {' and '.join(tests)} else 0.0)" if tests else f"{name}[{index}]"
