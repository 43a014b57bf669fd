"""What core asks of the layers above it. atoll/__init__.py hands it over when the package is loaded, so core knows what it may ask and not whom.

It imports nothing: `import atoll` loads it, and must be quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Computing = Callable[[str, Any, Any], None]  # (primitive, array of arguments, array of results)

_computing: Computing | None = None


def hand_over(computing: Computing) -> None:
    """Who computes the functions of bits="portable" (core/portable.py) from now on."""
    global _computing
    _computing = computing


def computed(op: str, given: Any, out: Any) -> None:
    """out := the primitive of given, element by element, by the text that compiled programs have; pairs for primitives of two."""
    assert _computing is not None, "atoll/__init__.py hands this over"
    _computing(op, given, out)
