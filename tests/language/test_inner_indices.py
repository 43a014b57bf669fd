"""The index of an inner loop, kept in a name of an outer one: a number, whose range nobody else knows.

Every way to keep it is a program, in every nesting, and plain Python says what it means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import same

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\ndef f(a: i64[n], k: i64):\n"
KEEPS = {
    "always": "found = j",
    "in a branch": "if a[j] == k:\n                found = j",
    "in one of two": "if a[j] == k:\n                found = j\n            else:\n                found = found - 1",
    "in an elif": "if a[j] > k:\n                found = found + 1\n            elif a[j] == k:\n                found = j",
    "by a choice": "found = j if a[j] == k else found",
    "the other way": "found = found if a[j] != k else j",
    "and leaves": "if a[j] == k or j == i - 1:\n                found = j\n                break",
    "and goes on": "if a[j] == k:\n                found = j\n                continue\n            found += 1",
    "in a pair": "found, other = (j, i) if a[j] == k else (found, other)",
    "by min": "found = min(found, j) if a[j] != k else max(found, j)",
    "in an array": "kept[0] = j if a[j] == k else kept[0]\n            found = kept[0]",
    "in a helper": "found = pick(a[j] == k, j, found)",
}
LOOPS = {
    "triangle": "    for i in range(n):\n        for j in range(i):\n            {}\n",
    "rows of i": "    for i in range(n):\n        for j in range(i, n):\n            {}\n",
    "data": "    for i in range(n):\n        for j in range(a[i] % (n + 1)):\n            {}\n",
    "while": "    i = n\n    while i > 0:\n        for j in range(i):\n            {}\n        i -= 1\n",
}
START = "    found, other, kept = -1, 0, [0]\n"


def pick(c: bool, a: int, b: int) -> int:
    return a if c else b


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("keep", KEEPS)
def test_kept(loop: str, keep: str) -> None:
    text = START + LOOPS[loop].format(KEEPS[keep]) + "    return found, other\n"
    if keep == "in a helper":
        head = HEAD.replace("@at.fn\ndef f", "@at.fn\ndef pick(c: at.bool_, a: i64, b: i64) -> i64:\n    return a if c else b\n@at.fn\ndef f")
    else:
        head = HEAD
    f = at.fn(source=head + text)
    scope: dict[str, Any] = {"pick": pick}
    exec("def f(a, n, k):\n" + text, scope)  # noqa: S102  a text of this file
    for a, k in (([], 1), ([2], 0), ([3, 1, 2, 1], 1), ([1, 0, 4, 4, 2], 4), ([1, 2, 3], 9)):
        wanted = tuple(np.int64(x) for x in scope["f"](list(a), len(a), k))
        given = np.array(a, np.int64)
        same(f.interpret(given, k), wanted, f"{a} {k}")
        if loop == "triangle":
            same(f(given, k), wanted, f"{a} {k}")


def test_a_bug_of_ours_is_told_as_one_in_a_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    import atoll.core.check as checking

    monkeypatch.setattr(checking, "_Checker", None)
    with pytest.raises(at.Error, match="E0899"):
        at.fn(source=HEAD + "    return k\n")
