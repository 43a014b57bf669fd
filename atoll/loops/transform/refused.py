"""What a transformation gives where it may not be made.

Every transformation of this folder takes a nest and gives another one that computes the same, or the reason why not. It looks for what makes it right itself: a recipe
that asks for too much gets a refusal, never a wrong program. Whether it pays is the recipe's question (profit.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp


@dataclass(frozen=True, slots=True)
class Refused:
    """Why not, in words that stand after "not done: "."""

    why: str


Made = lp.Stmts | Refused
