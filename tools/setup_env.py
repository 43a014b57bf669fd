"""Make a virtual environment with Atoll and its test tools, on a machine that has nothing but python3.

Debian's python3 comes without pip and ensurepip; then pip's own wheel is fetched from the package index and run from the file. A C
compiler is only installed (the one in the ziglang wheel) when the machine has none.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path


def run(*command: str) -> None:
    print("+", " ".join(command), flush=True)
    subprocess.run(command, check=True)


def has_ensurepip() -> bool:
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        return False
    return True


def index_url() -> str:
    return os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")


def fetch_pip(folder: Path) -> Path:
    """pip's newest wheel from the index's JSON listing."""
    request = urllib.request.Request(f"{index_url()}/pip/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        files = json.load(reply)["files"]
    wheels = [f for f in files if f["filename"].endswith("-py3-none-any.whl") and not f.get("yanked")]
    newest = wheels[-1]
    target = folder / newest["filename"]
    url = urllib.request.urljoin(request.full_url, newest["url"]) if hasattr(urllib.request, "urljoin") else newest["url"]
    with urllib.request.urlopen(url, timeout=120) as reply:
        target.write_bytes(reply.read())
    return target


def make(venv: Path) -> Path:
    """The environment's python, with pip."""
    python = venv / "bin" / "python"
    if has_ensurepip():
        run(sys.executable, "-m", "venv", str(venv))
        return python
    run(sys.executable, "-m", "venv", "--without-pip", str(venv))
    with tempfile.TemporaryDirectory() as folder:
        wheel = fetch_pip(Path(folder))
        run(str(python), f"{wheel}/pip", "install", "--quiet", str(wheel))
    return python


def main() -> None:
    venv = Path(sys.argv[1] if len(sys.argv) > 1 else ".venv")
    if sys.version_info < (3, 11):  # noqa: UP036  told in words on an old machine
        sys.exit("Atoll needs Python 3.11 or later")
    python = make(venv)
    extras = "test"
    if not (os.environ.get("ATOLL_CC") or any(shutil.which(name) for name in ("cc", "gcc", "clang"))):
        extras += ",cc"
    root = Path(__file__).resolve().parents[1]
    run(str(python), "-m", "pip", "install", "--quiet", "--editable", f"{root}[{extras}]")


if __name__ == "__main__":
    main()
