"""Programs of people who had read only the contract and the docs, as they wrote them: python -m tests.strangers [NAME..]

Each compares Atoll with NumPy, plain Python or central differences and prints what differs. `KNOWN` says how much still differs, and why; more or less of it is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SIGNS = ("MISMATCH", "EXC", "DIFF", "Traceback")
KNOWN = {
    "everyday/p11": (3, "bounds of slices are never clamped: np.diff of an empty array, x[2:] of one element; there is no bin"),
}


def main(names: list[str]) -> int:
    wrong = 0
    for path in sorted(HERE.glob("*/p*.py")):
        name = f"{path.parent.name}/{path.stem}"
        if names and name not in names:
            continue
        env = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
        done = subprocess.run([sys.executable, "-W", "ignore", path.name], cwd=path.parent, env=env, capture_output=True, text=True, check=False)
        text = done.stdout + done.stderr
        found = [line for line in text.splitlines() if line.startswith(SIGNS)]
        expected, why = KNOWN.get(name, (0, ""))
        print(f"{name}: {len(found)} differ, {expected} expected{f' ({why})' if why else ''}, exit status {done.returncode}")
        if len(found) != expected or done.returncode != 0:
            wrong += 1
            print("   " + "\n   ".join(found[:5]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
