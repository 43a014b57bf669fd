"""A machine without a C compiler does what it is sent: the objects travel, and the libraries they need."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.distribute.make import make_graph
from atoll.distribute.trace import Settings
from atoll.runtime.arguments import from_python
from tests.distribute.programs import make, same

THERE = """
import pickle, sys
from atoll.distribute.local import Local
graph, values = pickle.load(open(sys.argv[1], "rb"))
try:
    found = Local(graph, lambda k, box: values[k][box]).results()
except Exception as error:
    found = str(error)
pickle.dump(found, open(sys.argv[2], "wb"))
"""


@pytest.mark.parametrize(("name", "sent"), [("heat_twice_1", True), ("product_11", True), ("heat_twice_1", False)])
def test_a_new_process_without_a_compiler(name: str, sent: bool, tmp_path: Path) -> None:
    f, args = {name: (f, args) for name, f, args in make()}[name]
    values = from_python(f.core, args)
    graph = make_graph(f, values, Settings(3, least=0))
    if sent:
        graph = replace(graph, kernels=tuple(k.with_object() for k in graph.kernels))
    (tmp_path / "given").write_bytes(pickle.dumps((graph, values)))
    env = {**os.environ, "ATOLL_CC": "/no/compiler", "ATOLL_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", THERE, str(tmp_path / "given"), str(tmp_path / "found")], env=env, check=True, timeout=120)
    got = pickle.loads((tmp_path / "found").read_bytes())
    assert same(got[0], f(*args)) if sent else "E0802" in got
