"""`atoll build --shared`: a library and a stub that need neither Atoll nor a compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.cli import main
from atoll.runtime.shared import build_shared

HERE = Path(__file__).parent / "deployed"


def test_a_library_does_all_it_can_alone(tmp_path, capsys):
    assert main(["build", "--shared", str(HERE / "program.py"), "-o", str(tmp_path)]) == 0
    written = capsys.readouterr().out.split()
    assert [Path(p).name for p in written] == ["libprogram_compiled.so", "program_compiled.py"]
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", str(HERE / "use.py"), str(tmp_path)], env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["sum 10.0 10.000", "all of it"]


COUNT = """
from __future__ import annotations
import atoll as at
from atoll import i64
@at.fn
def count(k: i64) -> i64:
    return 0 if k <= 0 else 1 + count(k - 1)
"""


def test_what_needs_a_heap_is_refused(tmp_path):
    count = at.fn(source=COUNT)
    with pytest.raises(at.Error, match="E0835.*cannot be built as a shared library"):
        build_shared([count], "counts", tmp_path)
    assert not list(tmp_path.iterdir())


def test_processors(tmp_path):
    f = at.fn(source="import atoll as at\ndef f(x: at.f64):\n    return x + 1\n")
    with pytest.raises(at.Error, match="E0836"):
        build_shared([f], "f", tmp_path, cpu="no-such-processor")
    library, stub = build_shared([f], "f", tmp_path)
    text = stub.read_text()
    build_shared([f], "f", tmp_path)  # what Atoll wrote is replaced
    stub.write_text("mine")
    with pytest.raises(at.Error, match="E0831"):
        build_shared([f], "f", tmp_path)
    lacking = tmp_path / "lacking.py"
    lacking.write_text(text.replace("missing = self.c.atoll_missing()", "missing = 0 if table['features'] else -1"))
    if "avx2" in text:
        done = subprocess.run([sys.executable, "-I", str(lacking)], capture_output=True, text=True, check=False)
        assert "ImportError" in done.stderr and "this processor has no" in done.stderr
    assert library.exists() and np.__version__
