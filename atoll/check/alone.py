"""`python atoll/check/alone.py FILE.cert`: the checker by itself. No other module of Atoll is loaded, not even the package's own: what the verdict rests on are
the files named in docs/trust.md and Python's standard library."""

from __future__ import annotations

import sys
import types
from importlib import import_module
from pathlib import Path


def main(paths: list[str]) -> int:
    folder = Path(__file__).resolve().parent
    package = types.ModuleType("atoll")
    package.__path__ = [str(folder.parent)]
    sys.modules.setdefault("atoll", package)
    prove_file = import_module("atoll.check.prove").prove_file  # not before: the package's own file would be loaded
    return max((prove_file(p) for p in paths), default=2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
