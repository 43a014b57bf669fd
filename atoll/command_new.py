"""`atoll new NAME`: a project to start from: a program, its tests against NumPy, a benchmark, and the settings tools need."""

from __future__ import annotations

import keyword
from pathlib import Path

from atoll.errors.misuse import Misuse

PROGRAM = '''"""The functions of {name}."""

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def distances(points: f64[n, m], centre: f64[m]) -> f64[n]:
    """How far each point is from the centre."""
    away = points - centre
    return sqrt(sum(away * away))


@at.fn
def spread(points: f64[n, m], centre: f64[m]) -> f64:
    """The mean of the distances."""
    return mean(distances(points, centre))


slope = at.grad(spread, wrt="centre")
'''

TESTS = '''"""What the functions of {name} compute, against NumPy; and what they cost."""

import numpy as np

from {name} import distances, slope, spread

points = np.random.default_rng(0).normal(size=(50, 3))
centre = np.array([0.5, -0.5, 0.0])


def test_distances() -> None:
    assert np.allclose(distances(points, centre), np.linalg.norm(points - centre, axis=1))


def test_slope() -> None:
    step = 1e-6 * np.eye(3)
    differences = [(spread(points, centre + d) - spread(points, centre - d)) / 2e-6 for d in step]
    assert np.allclose(slope(points, centre), differences, atol=1e-6)


def test_memory() -> None:
    """No temporary array is made."""
    assert not distances.memory().temporaries
'''

BENCH = '''"""How long the functions of {name} take: python bench.py, or atoll bench {name}.py:distances --size n=100000 --size m=3"""

import time

import numpy as np

from {name} import distances

points, centre = np.random.default_rng(0).normal(size=(100_000, 3)), np.zeros(3)


def median(call, times=20) -> float:
    call()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return sorted(found)[times // 2]


if __name__ == "__main__":
    print(f"Atoll  {{median(lambda: distances(points, centre)) * 1e3:.3f}} ms")
    print(f"NumPy  {{median(lambda: np.linalg.norm(points - centre, axis=1)) * 1e3:.3f}} ms")
'''

SETTINGS = '''[project]
name = "{name}"
version = "0.1.0"
dependencies = ["atoll", "numpy"]

[project.optional-dependencies]
test = ["pytest"]

[tool.mypy]
plugins = ["atoll.mypy_plugin"]

[tool.pyright]
reportInvalidTypeForm = false
reportFunctionMemberAccess = false
analyzeUnannotatedFunctions = false

[tool.ruff.lint.per-file-ignores]
"{name}.py" = ["F821"]  # names of Atoll that are used without an import
'''

README = """# {name}

```sh
python -m pytest               # the tests
atoll check --watch {name}.py  # types and sizes while you write
atoll explore {name}.py        # every stage in the browser
python bench.py                # times
```
"""

FILES = {"{name}.py": PROGRAM, "test_{name}.py": TESTS, "bench.py": BENCH, "pyproject.toml": SETTINGS, "README.md": README}


def create(name: str, folder: Path) -> list[Path]:
    """Write the files of a project to a new folder."""
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise Misuse(f"{name!r} cannot be the name of a module: letters, digits and _, no digit first")
    if name in ("atoll", "numpy", "test", "bench"):
        raise Misuse(f"{name} is the name of another module")
    target = folder / name
    if target.exists():
        raise Misuse(f"{target} is there already")
    made = []
    try:
        target.mkdir(parents=True)
        for file, text in FILES.items():
            path = target / file.format(name=name)
            path.write_text(text.format(name=name), encoding="utf-8")
            made.append(path)
    except OSError as error:
        raise Misuse(f"nothing can be written to {target}: {error}") from None
    return made
