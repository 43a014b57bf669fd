"""Programs in parts give the bits of the program: every kind of loop, several numbers of parts. `make test-cluster` runs all of them."""

from __future__ import annotations

import os

import pytest

from atoll.distribute.local import Local
from atoll.distribute.make import make_graph
from atoll.distribute.trace import Settings
from atoll.runtime.arguments import from_python
from tests.distribute.programs import make, same

PROGRAMS = {name: (f, args) for name, f, args in make()}
FEW = ["heat_twice_1", "total_6", "product_11", "running_29", "heat_46", "total_47"]
CHOSEN = list(PROGRAMS) if os.environ.get("ATOLL_TEST_CLUSTER") == "1" else FEW


@pytest.mark.parametrize("name", CHOSEN)
def test_parts_have_the_bits_of_the_whole(name: str) -> None:
    f, args = PROGRAMS[name]
    want = f(*args)
    want = want if isinstance(want, tuple) else (want,)
    values = from_python(f.core, args)
    for parts, least in ((1, 0), (3, 0), (7, 4096)):
        graph = make_graph(f, values, Settings(parts, least=least))
        got = Local(graph, lambda k, box: values[k][box]).results()
        assert [same(a, b) for a, b in zip(got, want)] == [True] * len(want), (parts, least)
        if parts > 1 and args[0].shape[0] > 1000 and name in FEW:
            assert len(graph.tasks) > 1
