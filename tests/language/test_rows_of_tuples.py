"""Arrays of two axes whose elements are tuples or records: rows stay arrays after a filter, a choice, an update and in branches."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.record\nclass P:\n    x: i64\n    y: f64\n@at.fn\ndef f(a: i64[n], c: i64):\n"
MADE = {
    "kept": "    rows = [[(j - 4, a[j]) for j in range(n)] for v in a if v > 1]\n",
    "kept twice": "    all_rows = [[(j - 4, a[j]) for j in range(n)] for v in a if v > 0]\n    rows = [r for r in all_rows if c > 0]\n",
    "chosen": "    p = [[(i, a[j]) for j in range(n)] for i in range(n)]\n    rows = p if c > 1 else p[::-1]\n",
    "in branches": "    rows = [[(i, a[j]) for j in range(n)] for i in range(n)]\n    if c > 0:\n        rows = [[(j, a[i]) for j in range(n)] for i in range(n)]\n",
    "in a loop": "    rows = [[(i, a[j]) for j in range(n)] for i in range(n)]\n    for k in range(c):\n        rows = [[(r[n - 1 - j][1] + k, r[j][0]) for j in range(n)] for r in rows]\n",
    "updated": "    rows = [[(i, a[j]) for j in range(n)] for i in range(n)]\n    for k in range(c % 3):\n        rows[k % n, 0] = (k, 7)\n",
    "sorted": "    rows = [sort([(a[j], i) for j in range(n)]) for i in range(n)]\n",
}
USED = {
    "mapped": "    return [map(lambda e: e[0] + 2 * e[1], r) for r in rows]\n",
    "kept by a test": "    return [[e[1] for e in r] for r in rows if r[0][1] > 0]\n",
    "made records": "    return [[P(e[0], f64(e[1])) for e in r] for r in rows]\n",
}


@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize("made", MADE)
def test_rows(made: str, used: str) -> None:
    f = at.fn(source=HEAD + MADE[made] + USED[used])
    for c in (0, 2):
        agree(f, np.array([3, 0, 2]), c)
