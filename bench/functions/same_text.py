"""The same program text run by CPython: `at.fn` leaves functions as they are, records are dataclasses, numbers are Python's.

    python -m bench.functions.same_text FILE FUNCTION ARGUMENTS       prints the value and the best time

Atoll's syntax is Python's, so the text of an example is a Python program once its decorators mean nothing.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import math
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class _Anything:
    """Stands for what only annotations mention."""

    def __getattr__(self, name: str) -> Any:
        return _Anything()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return _Anything()

    def __getitem__(self, item: Any) -> Any:
        return self

    def __iter__(self) -> Any:
        return iter([_Anything()] * 9)

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__


NAMES = {
    "maximum": max,
    "minimum": min,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "i64": int,
    "f64": float,
    "u8": lambda x: int(x) & 255,
}


@functools.cache
def load(path: Path) -> dict[str, Any]:
    """The records and functions of a file, and of the library files it uses, as plain Python."""
    at = types.SimpleNamespace(fn=lambda f: f, record=dataclasses.dataclass(frozen=True, eq=False))
    module = types.ModuleType(f"plain_{path.stem}")
    sys.modules[module.__name__] = module
    namespace = module.__dict__
    namespace.update(NAMES, at=at)
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("atoll.std"):
            for alias in node.names:
                file = (node.module or "").split(".")[2:] or [alias.name]
                library = load(ROOT / "atoll" / "std" / f"{file[0]}.py")
                namespace[alias.name] = library[alias.name] if alias.name in library else types.SimpleNamespace(**library)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and _ours(node):
            for sub in ast.walk(node):
                if isinstance(sub, ast.arg):
                    sub.annotation = None
                elif isinstance(sub, ast.FunctionDef):
                    sub.returns = None
                elif isinstance(sub, ast.AnnAssign):
                    sub.annotation = ast.Constant("a type")
            exec(compile(ast.fix_missing_locations(ast.Module([node], [])), str(path), "exec"), namespace)  # noqa: S102  our own files
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.BitOr):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    namespace[target.id] = _Anything()
    return namespace


def _ours(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return any(isinstance(d, ast.Attribute) and d.attr in ("fn", "record") for d in node.decorator_list)


def measure(path: Path, function: str, args: list[Any], runs: int = 1) -> tuple[Any, float]:
    """The value and the best time, on a stack large enough for Python's recursion."""
    f = load(path)[function]
    found: list[Any] = []

    def work() -> None:
        sys.setrecursionlimit(10**7)
        best, value = math.inf, None
        for _ in range(runs):
            start = time.process_time()
            value = f(*args)
            best = min(best, time.process_time() - start)
        found.append((value, best))

    threading.stack_size(512 << 20)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    value, best = found[0]
    return value, best


if __name__ == "__main__":
    value, best = measure(Path(sys.argv[1]), sys.argv[2], [int(a) for a in sys.argv[3:]])
    print(value, best)
