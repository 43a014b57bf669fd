"""Nests: loops inside loops that overwrite places of two vectors and a matrix, under branches, in `while`s, several loops in one round, with ranges that are data.

What a reverse sweep needs is how every array was before each round (ad/undo_stack.py), so every update reads what others overwrite. Everything stays bounded.
"""

from __future__ import annotations

import random
from textwrap import indent

HEADER = """import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")

@at.fn
def f(x: f64[n], y: f64[n], a: f64[n, n], c: i64[n], s: f64):
"""
UPDATES = (
    "x[P] = tanh(x[Q] * y[P])",
    "x[P] += sin(x[Q]) * K",
    "y[P] = sin(x[P]) * y[Q]",
    "x[P], x[Q] = tanh(x[Q]) * K, x[P]",
    "x[P] = tanh(a[P, Q] * x[Q])",
    "a[P, Q] = tanh(a[Q, P] * x[P])",
    "a[P] = tanh(a[Q] * x[P])",
    "a[P, :Q] = a[Q, :Q] * K",
    "a[P:, Q] = tanh(a[P:, Q]) * K",
    "x[P:] = sin(x[P:]) * y[Q]",
    "x[:P] += y[:P] * s",
    "s = tanh(s * x[P] + y[Q])",
    "c[P] = (c[Q] + 1) % 7",
    "x[P:Q] = tanh(x[P:Q] * s)",
    "x[P] = sum(tanh(x[h] * y[h]) for h in range(Q)) * K",
    "x[P] = x[P] * max(a[Q])",
    # loops of two updates each, which are updates of all places at once
    "for h in range(n):\n    a[P, h], a[Q, h] = K * a[P, h] - s * a[Q, h], s * a[P, h] + K * a[Q, h]",
    "for h in range(n):\n    a[h, P], a[h, Q] = K * a[h, P] - s * a[h, Q], s * a[h, P] + K * a[h, Q]",
    "for h in range(n):\n    x[h] = x[h] * y[P]\n    x[h] = tanh(x[h] + a[h, Q])",
)
TESTS = ("c[P] % 2 == 0", "x[P] > y[Q]", "P < Q", "s > 0.1 or c[Q] > 4", "a[P, Q] < 0.4 and x[P] > -0.5")
LOOPS = ("for I in range(n):", "for I in range(O):", "for I in range(2):", "for I in range(c[P] % 3):", "for I in range(1, n - 1):", "for I in range(O + 2, n):", "for I in range(3, n - 1):")
ANEW = (  # arrays that are made anew, of what loops around and beside change place by place
    "x = tanh(x * y[P])",
    "x = x * K + y",
    "x, y = tanh(y) * K, sin(x)",
    "y = [sin(v) * K + x[P] for v in y]",
    "a = a * K",
    "a = [[tanh(v) * x[Q] for v in row] for row in a]",
    "a[P] = [v * K + s for v in a[Q]]",
    "x = [sum(row) * K for row in a]",
    "x = reverse(x) * K",
    "s = tanh(sum(x * y)) * K",
    "x = mixed(x, s)",
    "y = mixed(x, y[P])",
    "s = tanh(sum(mixed(y, x[Q])))",
    "a[P] = mixed(a[Q], s)",
    "a = [mixed(row, x[P]) for row in a]",
    "for row in a:\n    s = tanh(s + row[P]) * K",
    "x[P] = mixed(x, s)[Q]",
)
MIXED = (
    "for j in range(1, n):\n    v[j] = tanh(v[j - 1] * w) + v[j]\nreturn v",
    "for j in range(n):\n    if v[j] > 0.5:\n        return v * w\n    v[j] = v[j] * w\nreturn v",
    "j = 0\nwhile j < 3 and sum(v) < 1.0:\n    v = v * 0.5 + w\n    j += 1\nreturn v",
    "v[0] = w\nreturn [sin(z) * w for z in v]",
    "for z in v:\n    w = tanh(w + z)\nreturn v * w",
)
OUTER = (*LOOPS[:1] * 4, "for I in at.loop(n, checkpoint=1):", "for I in at.loop(n, checkpoint=2):", "for I in range(2, n):", "for I in range(3, n - 1):")  # some have fewer than no rounds


class _Nest:
    updates = UPDATES
    waiting = ("c[(I + 1) % n] > 1", "x[I] < 0.9", "I < c[I] % n + 1")

    def __init__(self, seed: int) -> None:
        self.r = random.Random(f"{type(self).__name__[1:].lower()} {seed}")
        self.names = self.branches = 0

    def place(self, loops: list[str]) -> str:
        i = self.r.choice(loops) if loops else "0"
        return self.r.choice((i, i, f"({i} + 1) % n", f"(c[{i}] + {i}) % n", f"c[{i}] % n", f"n - 1 - {i}"))

    def filled(self, text: str, loops: list[str]) -> str:
        p, q = self.place(loops), self.place(loops)
        if ":Q]" in text and "P:Q" in text:
            p = f"min({p}, {q})"
        return text.replace("P", p).replace("Q", q).replace("K", f"{self.r.uniform(0.4, 0.9):.2f}")

    def body(self, loops: list[str], depth: int) -> str:
        return "\n".join(self.statement(loops, depth) for _ in range(self.r.choice((1, 1, 2, 3))))

    def statement(self, loops: list[str], depth: int) -> str:
        kind = self.r.random()
        if depth and kind < 0.4:
            return self.loop(loops, depth - 1)
        if 0.4 <= kind < 0.55 and self.branches < 3:
            self.branches += 1
            test = self.filled(self.r.choice(TESTS), loops)
            text = f"if {test}:\n{indent(self.body(loops, depth), '    ')}"
            return text + (f"\nelse:\n{indent(self.body(loops, depth and depth - 1), '    ')}" if self.r.random() < 0.4 else "")
        return self.filled(self.r.choice(self.updates), loops)

    def loop(self, loops: list[str], depth: int) -> str:
        self.names += 1
        i = f"i{self.names}"
        inside = [*loops, i]
        if self.r.random() < 0.25:
            test = self.r.choice(self.waiting).replace("I", i)
            return f"{i} = 0\nwhile {i} < n and {test}:\n{indent(self.body(inside, depth), '    ')}\n    {i} += 1"
        head = self.filled(self.r.choice(LOOPS if loops else OUTER), loops).replace("I", i).replace("O", loops[-1] if loops else "n")
        leave = ""
        if self.r.random() < 0.15:
            word = self.r.choice(("break", "continue"))
            leave = f"    if {self.filled(self.r.choice(TESTS), inside)}:\n        {word}\n"
        return f"{head}\n{leave}{indent(self.body(inside, depth), '    ')}"


def nest(seed: int) -> str:
    made = _Nest(seed)
    body = "\n".join(made.loop([], 2 if made.r.random() < 0.3 else 1) for _ in range(made.r.choice((1, 1, 2))))
    return f"{HEADER}{indent(body, '    ')}\n    return x, y, a, s\n"


class _Anew(_Nest):
    updates = (*ANEW, *ANEW, *UPDATES)
    waiting = ("sum(x) < 1.5", "sum(x * y) < 1.0", "max(a[I]) < 0.9", "sum(mixed(x, s)) < 2.0", "x[I] < 0.9")


def anew(seed: int) -> str:
    """Nests in which arrays are also made anew and given to a function that changes its argument, and whose conditions ask about whole arrays."""
    made = _Anew(seed)
    mixed = indent(made.r.choice(MIXED), "    ")
    body = "\n".join(made.loop([], 1) for _ in range(made.r.choice((1, 1, 2))))
    text = f"def mixed(v: f64[n], w: f64):\n{mixed}\n{body}"
    return f"{HEADER}{indent(text, '    ')}\n    return x, y, a, s\n"
