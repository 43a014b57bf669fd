"""ATL's equations by their names (filled in below)."""

from __future__ import annotations

from typing import Any

EQUATIONS: dict[str, Any] = {}
