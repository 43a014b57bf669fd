"""Spellings beside NumPy: `python -m tests.words.beside_numpy [FILE]` tries every line of beaten_path.txt and says which match, which are refused and which differ.

Each line is an expression of the names in SCENE. What differs by a rule that docs/for_numpy_users.md names is in NAMED.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at

LINES = Path(__file__).with_name("beaten_path.txt").read_text().splitlines()
HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import *\nn, m, k, q, w, v = at.sizes('n m k q w v')\n@at.fn\n"
TYPES = {
    "x": "f64[n]", "y": "f64[n]", "a": "f64[m, k]", "b": "f64[k, m]", "s": "f64[k, k]", "i": "i64[n]", "j": "i64[m, k]", "z": "c128[q]", "p": "at.bool_[n]",
    "g": "f32[n]", "u": "u8[w]", "t": "f64[v, k, m]",
}  # fmt: skip
_RNG = np.random.default_rng(5)
SCENE: dict[str, Any] = {
    "x": _RNG.normal(size=6), "y": _RNG.normal(size=6), "a": _RNG.normal(size=(4, 3)), "b": _RNG.normal(size=(3, 4)), "s": _RNG.normal(size=(3, 3)),
    "i": np.array([3, 1, 4, 1, 5, 9]), "j": _RNG.integers(-5, 5, (4, 3)), "z": _RNG.normal(size=5) + 1j * _RNG.normal(size=5),
    "p": np.array([True, False, True, True, False, True]), "g": _RNG.normal(size=6).astype(np.float32), "u": np.array([1, 200, 7], np.uint8), "t": _RNG.normal(size=(2, 3, 4)),
}  # fmt: skip
NAMED = frozenset(["sum(a)", "np.unique_values(i)", "np.iinfo(np.int32).max", "np.sqrt(u)", "np.exp(p)", "np.abs(p)", "-p", "p + p", "p * p", "p - p", "i ** -1", "g + i[0]", "np.float32(1.5) * i"])
"""Bare names and operators are the language's own; NumPy's order of unique_values is that of a hash; functions of small integers and bools are f64, not f16."""


def same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, (tuple, list)):
        if not isinstance(found, (tuple, list)):
            return bool(np.allclose(np.asarray(wanted), np.asarray(found), equal_nan=True))
        return len(wanted) == len(found) and all(map(same, wanted, found))
    w, f = np.asarray(wanted), np.asarray(found)
    exact = 1e-6 if w.dtype.itemsize <= 4 else 1e-9
    return w.shape == f.shape and w.dtype == f.dtype and bool(np.allclose(w, f, equal_nan=True, rtol=exact, atol=1e-12))


def outcome(text: str) -> tuple[str, str]:
    """match, refused, both refuse, accepted where NumPy raises, differs; and why."""
    used = [name for name in TYPES if re.search(rf"(?<![\w.'\"]){name}\b", text)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = eval(text, {"np": np}, {name: x.copy() for name, x in SCENE.items()})  # noqa: S307  our own list
        except Exception as error:  # noqa: BLE001  whatever NumPy raises
            wanted = error
        try:
            f = at.fn(source=f"{HEAD}def f({', '.join(f'{name}: {TYPES[name]}' for name in used)}):\n    return {text}\n")
            found = f.interpret(*[SCENE[name].copy() for name in used])
        except at.Error as error:
            assert error.code != "E0899" and error.help, error
            return ("both refuse" if isinstance(wanted, Exception) else "refused"), f"{error.message.splitlines()[0]}: {error.help}"
    if isinstance(wanted, Exception):
        return "accepted", repr(wanted)
    return ("match", "") if same(wanted, found) else ("differs", f"{wanted!r} and {found!r}")


def main() -> None:
    count: Counter[str] = Counter()
    for text in Path(sys.argv[1]).read_text().splitlines() if len(sys.argv) > 1 else LINES:
        kind, why = outcome(text)
        count["named" if text in NAMED else kind] += 1
        if kind not in ("match", "both refuse") and text not in NAMED:
            print(f"{kind}: {text}: {why}")
    print(dict(count))


if __name__ == "__main__":
    main()
