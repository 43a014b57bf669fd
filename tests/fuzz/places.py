"""Where expressions stand in a parse tree, so that they can be replaced."""

from __future__ import annotations

import ast


def expressions(tree: ast.AST) -> list[tuple[ast.AST, str, int | None, ast.expr]]:
    """Every expression with its place, outer ones first."""
    found: list[tuple[ast.AST, str, int | None, ast.expr]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, name, None, value))
            elif isinstance(value, list):
                found += [(node, name, k, x) for k, x in enumerate(value) if isinstance(x, ast.expr)]
    return found
