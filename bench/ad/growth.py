"""python -m bench.ad.growth NAME primal|derivative: bytes of the arguments and of what one call adds to the process at most."""

from __future__ import annotations

import resource
import sys
from typing import Any


def _bytes(value: Any) -> int:
    return sum(_bytes(x) for x in value) if isinstance(value, tuple) else int(getattr(value, "nbytes", 8))


def main() -> int:
    from bench.ad.rows import ROWS

    row = ROWS[sys.argv[1]]()
    f = getattr(row, sys.argv[2])
    f.compile()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kept = f(*row.args)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del kept
    print(_bytes(row.args) + (after - before) * 1024)
    return 0


if __name__ == "__main__":
    sys.exit(main())
