"""python -m bench.ad.growth NAME primal|derivative: bytes of the arguments and of what one call adds to the process at most."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def _bytes(value: Any) -> int:
    return sum(_bytes(x) for x in value) if isinstance(value, tuple) else int(getattr(value, "nbytes", 8))


def _status(name: str) -> int:
    """Bytes, from the system's own account of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(name)))


def main() -> int:
    from bench.ad.rows import ROWS

    row = ROWS[sys.argv[1]]()
    f = getattr(row, sys.argv[2])
    f.compile()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    kept = f(*row.args)
    after = _status("VmHWM")
    del kept
    print(_bytes(row.args) + max(0, after - before))
    return 0


if __name__ == "__main__":
    sys.exit(main())
