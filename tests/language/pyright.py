"""pyright over a user's file and the examples of one page, with the settings of docs/editors.md: `make pyright`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.language.test_type_checkers import PROGRAM, ROOT

SETTINGS = {"reportInvalidTypeForm": False, "reportFunctionMemberAccess": False, "analyzeUnannotatedFunctions": False}
# pyright does not look through a decorator with options, nor at overloads of it: those functions are left out here, and numbers as sizes of fields.
WITHOUT_OPTIONS = PROGRAM.replace("@at.fn(reassociate=False)", "@at.fn").replace("@rank.def_vjp", "@at.fn").replace("f64[3, 4]", "f64[n, m]")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "user.py").write_text(WITHOUT_OPTIONS)
        (place / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)], **SETTINGS}))
        command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
        done = subprocess.run(command, capture_output=True, text=True, cwd=place, timeout=300, check=False)
    found = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    mine = {k for k, line in enumerate(WITHOUT_OPTIONS.splitlines()) if "# mine" in line}
    wrong = [d for d in found if d["range"]["start"]["line"] not in mine]
    for d in wrong:
        print(f"{d['range']['start']['line'] + 1}: {d['message']}")
    print(f"{len(found)} errors, {len(wrong)} of them not the user's")
    return 1 if wrong or {d["range"]["start"]["line"] for d in found} != mine else 0


if __name__ == "__main__":
    sys.exit(main())
