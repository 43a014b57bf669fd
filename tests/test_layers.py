"""The folders of atoll/ are layers: a folder imports from those below it and from none above.

`python -m tests.test_layers` prints the graph.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "atoll"

# From the ground up; folders of one row know each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("sizes",),
    ("types",),
    ("surface",),
    ("core", "views"),
    ("elaborate", "std"),  # what NumPy's names do is written in Atoll
    ("ainf", "ad"),
    ("plan",),
    ("loops",),
    ("lower",),
    ("backends",),
    ("runtime",),
    ("functions",),
    ("validate",),
    ("schedule", "check"),
    ("madl", "futhark"),
    ("distribute", "explore", "lsp", "eyes"),
)

GROUND = {"origins", "uncollected", "deep", "pictures", "tree"}  # files beside the folders that import nothing but errors and types
USERS = ("madl", "futhark", "distribute", "eyes")  # folders that make and ask functions as users do: function.py, making.py and what they lead to
UPWARDS = {
    ("ad", "function"): "at.grad gives a function",
    ("ad", "making"): "a rule is a function",
    ("functions", "function"): "a module is compiled from functions",
    ("elaborate", "random"): "keys have a type there",
    ("schedule", "cost"): "a schedule says what it costs",
    ("backends", "targets"): "a function that no device takes is told so",
    ("errors", "pages"): "an error in a notebook",
    ("runtime", "pages"): "memory in a notebook",
    ("schedule", "pages"): "a schedule in a notebook",
}
"""What folders import from files beside them that stand above: few, and each with its reason."""

INSIDE = 252  # imports inside functions: most keep the start short (import atoll, a call from the cache, the command), the others break a cycle


def imports(path: Path) -> set[str]:
    """The folders a file imports from when it runs; what only a type checker sees does not count."""
    tree = ast.parse(path.read_text())
    seen_by_checkers = {id(x) for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test) for x in ast.walk(n)}
    found: set[str] = set()
    for n in ast.walk(tree):
        if id(n) in seen_by_checkers:
            continue
        if isinstance(n, ast.ImportFrom) and n.module is not None and n.module.startswith("atoll."):
            found.add(n.module.split(".")[1])
        elif isinstance(n, ast.Import):
            found |= {a.name.split(".")[1] for a in n.names if a.name.startswith("atoll.")}
    return {name for name in found if (ROOT / name).is_dir()}


def edges() -> Counter[tuple[str, str]]:
    """Folder to folder, how many files."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        if len(parts) > 1:
            found.update((parts[0], other) for other in imports(path) if other != parts[0])
    return found


def upwards() -> set[tuple[str, str]]:
    """Folder to file beside the folders, but for those that may."""
    found: set[tuple[str, str]] = set()
    for path in sorted(ROOT.rglob("*.py")):
        folder = path.relative_to(ROOT).parts[0]
        if path.parent != ROOT and folder not in USERS:
            named = {m for n in ast.walk(_running(path)) if isinstance(n, ast.ImportFrom) and (m := n.module or "").startswith("atoll.")}
            found |= {(folder, name) for m in named if (ROOT / f"{(name := m.split('.')[1])}.py").exists() and name not in GROUND}
    return found


def _running(path: Path) -> ast.Module:
    """A file without what only a type checker sees."""

    class Without(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | None:
            return None if "TYPE_CHECKING" in ast.dump(node.test) else self.generic_visit(node)

    tree: ast.Module = Without().visit(ast.parse(path.read_text()))
    return tree


def inside_functions(path: Path) -> int:
    """Imports of the compiler's own modules that stand inside functions: what breaks a cycle or saves time at the start, or stands there by habit."""
    functions = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    found = {(n.lineno, n.module) for f in functions for n in ast.walk(f) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("atoll")}
    return len(found)


def height(folder: str) -> int:
    return next((k for k, row in enumerate(LAYERS) if folder in row), -1)


def test_every_folder_has_its_layer() -> None:
    folders = {p.parent.relative_to(ROOT).parts[0] for p in ROOT.rglob("*.py") if p.parent != ROOT}
    assert [f for f in sorted(folders) if height(f) < 0] == []


def test_no_edge_upwards() -> None:
    assert [edge for edge in edges() if height(edge[1]) > height(edge[0])] == [], "import from a folder below, or hand over what is needed (core/handed_over.py)"


def test_files_beside_the_folders_stand_above_them() -> None:
    assert upwards() == set(UPWARDS), "import from below, or ask what it is (types/objects.py: is_function)"
    for name in GROUND:
        assert imports(ROOT / f"{name}.py") <= {"errors", "types"}, name


def test_no_more_imports_inside_functions() -> None:
    assert sum(map(inside_functions, ROOT.rglob("*.py"))) <= INSIDE, "put it at the head of its file; this number only shrinks"


def test_the_trusted_checker_stands_alone() -> None:
    """`atoll.check.prove` is what an auditor runs: beside the names of the package itself it loads its own folder, and nothing of the compiler."""
    code = "import sys, atoll; own = set(sys.modules); import atoll.check.prove; print(*(m for m in sys.modules if m.startswith('atoll.') and m not in own))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "atoll.check.prove" in found
    assert [m for m in found if not m.startswith("atoll.check")] == []
    checker = [ROOT.parent / (m.replace(".", "/") + ".py") for m in found if m not in ("atoll.check", "atoll.check.rewrites")]
    assert {name for path in checker for name in imports(path)} == {"check"}


if __name__ == "__main__":
    for (a, b), files in sorted(edges().items(), key=lambda e: (height(e[0][0]), height(e[0][1]))):
        print(f"{a:10} -> {b:10} {files:4} files{'   upwards' if height(b) > height(a) else ''}")
