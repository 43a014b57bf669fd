"""Every way of standing in a loop times every kind of update: short programs, all of which must be done in place.

`AROUND` are nests of branches and loops with a hole, `UPDATES` what is put into it, `LOOPS` what goes around all of it. The arrays are `a` and `b` (state), `m` (a mask); `i` is the
round, `j` an index that depends on data.
"""

from __future__ import annotations

from textwrap import indent

HEAD = """import atoll as at
from atoll import i64, bool_
n = at.sizes("n")

@at.fn
def f(m: bool_[n], a: i64[n], b: i64[n]):
    p = 0
"""

UPDATES = {
    "put": "a[i] = p + 1",
    "add": "a[j] += i",
    "read beside": "a[i] = a[j] + b[i]",
    "exchange": "a[i], a[j] = a[j], a[i]",
    "two arrays": "a[j], b[i] = b[j] + i, a[i]",
    "push": "b[p % n] = i\np += 1",
    "pop": "p = max(p - 1, 0)\na[b[p % n] % n] = i",
    "twice": "a[j] = b[i]\na[i] = a[j] + 1",
    "slice": "a[i : i + 1] = b[i : i + 1] + 1",
    "one of two is read": "row = b if b[i] > 2 else a\na[i] = row[j] + 1",
    "chosen in branches": "if b[i] > 2:\n    row, k2 = b, 1\nelse:\n    row, k2 = a, 2\nb[j] = row[i] + k2",
    "arrays change places": "a, b = b, a",
    "and are updated": "a[j] = i\na, b = b, a\na[i] = b[j] + p",
}

AROUND = {
    "if": "if m[i]:\n    {}",
    "if else": "if m[i]:\n    {}\nelse:\n    b[i] = 1\n    p += 1",
    "in else": "if m[i]:\n    p += a[i]\nelse:\n    {}",
    "if in if": "if m[i]:\n    if a[i] > 3:\n        {}",
    "else in if": "if m[i]:\n    if a[i] > 3:\n        a[j] = 2\n    else:\n        {}\n        p += 2",
    "elif": "if m[i]:\n    a[i] = 3\nelif a[j] % 2 == 0:\n    {}\nelif b[i] > 2:\n    b[j] = a[i]\nelse:\n    a[j] -= 1",
    "match": "match i % 3:\n    case 0:\n        a[i] = 1\n    case 1:\n        {}\n    case _:\n        if m[i]:\n            b[i] = 3",
    "and or": "if m[i] and a[i] > 1 or b[j] == 2:\n    {}",
    "two ifs": "if m[i]:\n    {}\nif a[i] < b[j]:\n    {}",
    "for in if": "if m[i]:\n    for k in range(2):\n        j = (j + k) % n\n        {}",
    "while in if": "if m[i]:\n    k = 0\n    while k < 3 and a[(i + k) % n] > 2:\n        {}\n        k += 1",
    "if in while": "k = 2\nwhile k > 0:\n    if m[(i + k) % n]:\n        {}\n    k -= 1",
    "if in for in if": "if m[i]:\n    for k in range(a[i] % 3):\n        if b[j] > k:\n            {}\n        else:\n            b[(j + k) % n] += 1",
    "flag": "ok = m[i]\nif ok:\n    ok = a[j] > 2\nif ok:\n    {}",
}

LOOPS = {
    "for": "for i in range(n):\n    {}",
    "while": "i = 0\nwhile i >= 0 and i < n:\n    {}\n    i += 1",
    "walk": "i, t = 0, 0\nwhile i >= 0 and i < n and t < 2 * n:\n    {}\n    t += 1\n    if a[i] % 3 > 0:\n        i += 1\n        if i < n:\n            b[i] += 1\n    else:\n        a[i] += 1",
    "leaves": "i = 0\nwhile True:\n    if i >= n:\n        break\n    {}\n    i += 1\n    if i < n and a[i] > 1000:\n        break",
}


def filled(text: str, inside: str) -> str:
    """A text with another in its hole."""
    lines = []
    for line in text.split("\n"):
        lines.append(indent(inside, " " * (len(line) - len(line.lstrip()))) if line.strip() == "{}" else line)
    return "\n".join(lines)


def program(around: str, update: str, loop: str = "for") -> str:
    """The text of one program."""
    inside = "j = (a[i] * 3 + i) % n\n" + filled(AROUND[around], UPDATES[update])
    return HEAD + indent(filled(LOOPS[loop], inside), "    ") + "\n    return a, b, p\n"


ALL = [(around, update, loop) for loop in LOOPS for around in AROUND for update in UPDATES]
