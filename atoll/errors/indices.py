"""An index that is out of range, shown as it was written: x[-4] of 3 elements is -4, not 3 - 4; a u64 is not negative."""

from __future__ import annotations

import ast


def shown(text: str, index: object, size: object, unsigned: bool) -> tuple[object, str | None]:
    """The index to show, and a better suggestion than the usual where there is one."""
    if not isinstance(index, int) or not isinstance(size, int) or index >= 0:
        return index, None
    if unsigned:
        return index + 2**64, None
    if index - size in _counted_from_the_end(text):
        return index - size, f"count at most {size} from the end, or make sure that there are more elements"
    return index, "only a literal or a size counts from the end; write x[len(x) - k] for that, or x[(i - 1) % n] to go round"


def _counted_from_the_end(text: str) -> set[int]:
    """The negative literals among the indices of x[...]."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return set()
    if not isinstance(node, ast.Subscript):
        return set()
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    found = set()
    for item in items:
        if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.USub) and isinstance(item.operand, ast.Constant) and isinstance(item.operand.value, int):
            found.add(-item.operand.value)
    return found
