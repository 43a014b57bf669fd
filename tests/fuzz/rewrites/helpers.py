"""Templates of programs in parts: local functions that loop over their arguments, change them, return early, give several values back; called in rounds, in conditions, for every element or
row, on what other calls gave; with the arguments used again afterwards."""

from __future__ import annotations

from .words import Chooser, Program, function, one_of, zero

FEW = ((1, 1), (2, 2), (3, 1), (2, 3), (4, 2), (5, 3), (8, 2), (9, 5))


def _indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in text.split("\n"))


def _step(r: Chooser, t: str, depth: int) -> str:
    """Something that a function of v: t[m], w: t does; s is a number."""
    simple = [
        "v[0] = w", "s = s + v[0]", "v[1:] = v[:-1]", "v = v + w", "v = [z % 7 + s for z in v]", "s = (s + sum(v)) % 31", "v = reverse(v)", "s = max(v)", "v[len(v) - 1] += s",
        "v[0], v[len(v) - 1] = v[len(v) - 1], v[0]", "u = v\nu[0] = s\ns = s + u[0] - v[0]", "v[::2] = v[::2] + 1", "w = w + 1",
    ]  # fmt: skip
    if depth == 0 or r.random() < 0.4:
        return r.choice(simple)
    inner = _indented(_step(r, t, depth - 1))
    again, at = _indented(_step(r, t, depth - 1)), f"at{depth}"
    return r.choice((
        f"for i in range(len(v)):\n    v[i] = (v[i] * 2 + s) % 23\n{inner}", f"for i in range({one_of(r, 'len(v)', '3', '1, len(v)')}):\n{inner}\n    if v[i % len(v)] > 3:\n        {one_of(r, 'break', 'continue', 'return v, s')}\n{again}",
        f"if w > 2:\n{inner}\nelse:\n{again}", "if s > 4:\n    return v, s", f"{at} = 0\nwhile {at} < 4 and sum(v) % 5 != 1:\n    {at} = {at} + 1\n{inner}",
        f"{at} = 0\nwhile {at} < len(v) and v[{at}] < 9:\n    v[{at}] = v[{at}] + 3\n    {at} = {at} + 1\n{again}",
        f"for z in v:\n    s = (s + z) % 29\n{again}", f"for i in range(3):\n{inner}\n    if s > 20:\n        break\nelse:\n{again}",
    ))  # fmt: skip


def helpers(r: Chooser) -> Program:
    t = one_of(r, "i64", "i64", "f64")
    steps = "\n".join(_step(r, t, 2) for _ in range(r.choice((1, 2, 2, 3))))
    f1 = f"def part(v: {t}[m], w: {t}):\n    s = {zero(t)}\n{_indented(steps)}\n    v = [z % 41 for z in v]\n    return v, s % 37"
    f2 = f"def number(v: {t}[m], w: {t}):\n    p, q = part(v, w)\n" + r.choice(("    return q + p[0]", "    if q > 3:\n        return q\n    return sum(p)", "    for z in p:\n        if z > w:\n            return z\n    return q", "    p, q = part(p, q)\n    return max(p) - v[0]"))
    ways = [
        "c[i], s = part(c[i], s)", "row, x[i] = part(c[i], x[i])\n    c[n - 1 - i] = row", "s = (s + number(c[i], x[i])) % 43", "if number(c[i], s) > 5:\n        c[i, 0] = s\n        s = s + 1", "c[i] = part(c[(i + 1) % n], s)[0]",
        "u = 0\n    while u < 3 and number(c[i], s) % 4 != 1:\n        c[i, u % m] += 1\n        u = u + 1", "x = [number(row, x[i]) for row in c]", "c = [part(row, s)[0] for row in c]", "x[i] = sum(part(row, x[i])[1] for row in c) % 47", "y, s = part(y, s)",
        "y = part(y, x[i])[0]\n    c[i] = y", "z = y\n    z, s = part(z, s)\n    s = s + y[0] - z[0]", "if number(y, s) < number(c[i], s):\n        y = c[i]\n    else:\n        c[i] = y", "c = [[v + number(row, v) % 3 for v in row] for row in c]", "s = max(number(row, s) for row in c)",
    ]  # fmt: skip
    chosen = "\n    ".join(r.choice(ways) for _ in range(r.choice((1, 1, 2, 3))))
    cut = "s = s % 53\n    x = [v % 59 for v in x]\n    c = [[v % 61 for v in row] for row in c]\n    y = [v % 67 for v in y]"
    loop = one_of(r, "for i in range(n):", "for i in range(min(n, k % 4)):", "i = -1\nwhile i < n - 1 and number(y, s) != 2:\n    i = i + 1")
    body = f"{f1}\n{f2}\ns = {zero(t)}\n{loop}\n    {chosen}\n    {cut}\nreturn {one_of(r, 'c, x, y, s', 'c, s', 's, y', 'x, y')}"
    return Program(function(f"c: {t}[n, m], x: {t}[n], y: {t}[m], k: i64", body), tuple(r.sample(FEW, 4)), low=-4, high=6)
