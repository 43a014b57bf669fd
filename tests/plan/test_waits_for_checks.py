"""Places that exist only where a check has seen that a size is not 0 are read and written after that check, whatever loops their readers would share."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.errors.base import Error
from tests.fuzz.stages import Stages

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: f64[n], y: f64[m], a: f64[n, m], k: i64):\n"
BODIES = {
    "rows": "    return [[a[(k - i) % n, (j + k) % m] + a[i, (j + k) % m] for j in range(m, 2)] for i in range(n)]\n",
    "beside": "    u = [x[i] * 2 for i in range(n)]\n    return u, sum(u), [y[(i + k) % m] + u[i] * x[i] for i in range(n)]\n",
    "best": "    u = [x[(k - i) % n] for i in range(n)]\n    return u, [y[argmax(y)] + u[i] for i in range(n)]\n",
    "written": "    u = [x[(k - i) % n] for i in range(n)]\n    for i in range(n):\n        y[(i + k) % m] += u[i]\n    return u, y\n",
}


@pytest.mark.parametrize("name", BODIES)
def test_no_element_is_touched_before_the_check(name: str) -> None:
    f = at.fn(source=HEAD + BODIES[name])
    stages = Stages(f)
    for n, m in ((5, 0), (1, 0), (3, 1), (0, 0), (4, 2)):
        args = (np.arange(n) * 0.5, np.arange(m) + 1.0, np.arange(n * m).reshape(n, m) * 1.0, 3)
        said = []
        for stage in ("interpret", "loops1", "rewritten", "O3T1"):  # the executor of loops is stuck where something outside is read
            try:
                said.append([np.asarray(leaf).tolist() for leaf in stages.runner(stage)(args)])
            except Error as e:
                said.append(str(e).splitlines()[0])
        assert all(what == said[0] for what in said), said
        if n and not m:
            assert isinstance(said[0], str) and said[0].startswith("E07")
