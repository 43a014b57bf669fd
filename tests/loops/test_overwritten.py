"""Arrays that are written all over are not filled before; others are."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.fn\ndef f(a: f64[n, m], k: i64):\n    x = np.zeros((n, m))\n"
GONE = [
    "    for i in range(n):\n        for j in range(m):\n            x[i, j] = 2 * a[i, j]\n    return x\n",
    "    s = 0.0\n    for i in range(n):\n        s += a[i, 0]\n    for i in range(n - 1, -1, -1):\n        for j in range(m):\n            s += a[i, j]\n            x[n - 1 - i, m - 1 - j] = s\n    return x\n",
    "    for j in range(m):\n        for i in range(n):\n            x[i, j] = a[i, j] // k\n    return x\n",
    "    for i in range(n):\n        for j in range(m):\n            p = 0\n            while p < 3 and a[i, j] > p:\n                p += 1\n            x[i, j] = p\n    return x\n",
]
KEPT = [
    "    for i in range(1, n):\n        for j in range(m):\n            x[i, j] = 2 * a[i, j]\n    return x\n",
    "    for i in range(n):\n        for j in range(i, m):\n            x[i, j] = 2 * a[i, j]\n    return x\n",
    "    for i in range(n):\n        for j in range(m):\n            if a[i, j] > 0.5:\n                x[i, j] = 2 * a[i, j]\n    return x\n",
    "    for i in range(n):\n        for j in range(m):\n            x[i, j] = a[i, j] + x[0, 0]\n    return x\n",
    "    for i in range(n):\n        for j in range(m):\n            x[i, 0] = a[i, j]\n    return x\n",
    "    for i in range(n):\n        for j in range(m):\n            if j == k:\n                break\n            x[i, j] = a[i, j]\n    return x\n",
    "    for t in range(k):\n        for i in range(n):\n            for j in range(m):\n                x[i, j] = a[i, j] + t\n    return x\n",
]


@pytest.mark.parametrize("text", [*GONE, *KEPT])
def test_only_what_is_written_all_over(text: str) -> None:
    f = at.fn(source=HEAD + text)
    assert ("is not filled" in f.explain("schedule")) == (text in GONE)
    for shape in ((0, 0), (1, 1), (2, 3), (3, 2), (5, 7)):
        for k in (1, 2):
            agree(f, np.random.default_rng(7).random(shape), k)
