"""Programs whose text is Python: run by Python and NumPy it is what the compiled program must give, at sizes 0, 1, 2, 3 and awkward ones.

`as_python.txt` holds them, between lines of `# ---`. Comments at the head say for which element types TT stands, which sizes are tried, and the arguments, made
of a generator of random numbers, a size and the type. Where Python raises, Atoll must refuse.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at

PROGRAMS = (Path(__file__).parent / "as_python.txt").read_text().split("# ---\n")
HEAD = "import math\nimport numpy as np\nimport atoll as at\nfrom atoll import f64, f32, i64, i32, u8, idx\nn, m, k = at.sizes('n m k')\n"
DTYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "u8": np.uint8, "bool": np.bool_}


def vec(rng: np.random.Generator, shape: Any, dtype: str, low: int = -4, high: int = 9) -> Any:
    """Small numbers, so that many are equal; floats are quarters."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    low = max(low, 0) if dtype.startswith("u") else low
    if dtype.startswith("f"):
        return (np.round(rng.uniform(low, high, shape) * 4) / 4).astype(DTYPES[dtype])
    return rng.integers(low, high, shape).astype(DTYPES[dtype])


def _head(program: str, key: str, default: str) -> str:
    found = re.search(rf"^# {key}: (.*)$", program, re.M)
    return found[1] if found else default


def _name(program: str) -> str:
    return re.findall(r"^def (\w+)", program, re.M)[-1]


def _same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)) and isinstance(found, tuple):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            _same(f, w)
    elif dataclasses.is_dataclass(wanted):
        for field in dataclasses.fields(wanted):
            _same(getattr(found, field.name), getattr(wanted, field.name))
    else:
        f, w = np.asarray(found), np.asarray(wanted)
        assert f.shape == w.shape
        python = isinstance(wanted, (bool, int, float, list))  # has a kind, and no width; nothing at all of no elements
        assert f.dtype == w.dtype or (python and (f.dtype.kind == w.dtype.kind or not w.size)), f"{f.dtype} for {w.dtype}"
        if f.dtype.kind == "f":
            near = 1e-12 if f.dtype == np.float64 else 1e-5
            np.testing.assert_allclose(f, w, near, near)
        else:
            np.testing.assert_array_equal(f, w)


CASES = [(program, dtype) for program in PROGRAMS for dtype in _head(program, "types", "f64").split()]


@pytest.mark.parametrize(("program", "dtype"), CASES, ids=[f"{_name(p)}-{t}" for p, t in CASES])
def test_python_gives_the_same(program: str, dtype: str) -> None:
    text = HEAD + program.replace("TT", "at.bool_" if dtype == "bool" else dtype)
    names: dict[str, Any] = {}
    exec(text.replace("@at.fn\n", ""), names)  # noqa: S102  our own text
    made = eval(f"lambda rng, n, T: ({_head(program, 'arguments', '')},)", {"np": np, "vec": vec})  # noqa: S307  the same
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        f = at.fn(source=text)
        for size in eval(_head(program, "sizes", "(0, 1, 2, 3, 7, 18)")):  # noqa: S307  the same
            arguments = made(np.random.default_rng(7 * size + 1), size, dtype)
            try:
                wanted = names[_name(program)](*copy.deepcopy(arguments))
            except Exception:  # noqa: BLE001  whatever Python raises
                with pytest.raises(at.Error):
                    f(*arguments)
                continue
            try:
                found = f(*arguments)
            except at.Error as error:
                raise AssertionError(f"{size}: {error}") from None
            _same(found, wanted)
    assert "every round" not in str(f.memory())
