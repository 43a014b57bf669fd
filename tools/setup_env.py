"""Make a virtual environment with Atoll in it, on a machine that has nothing but python3: `setup_env.py FOLDER EXTRA...`

Debian's python3 comes without pip and ensurepip; then pip's own wheel is fetched from the package index, checked against the index's
hash and run from the file. A C compiler (the one in the ziglang wheel) is installed only when the machine has none.
"""

from __future__ import annotations

import hashlib
import html
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str) -> None:
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        sys.exit(f"setting up the environment failed (exit status {done.returncode}): {' '.join(command)}")


def newest_pip(page: str, address: str) -> tuple[str, str, str]:
    """Name, address and SHA-256 of the newest released wheel of pip on a page of the index (PEP 503)."""
    found = []
    for link in re.finditer(r'<a\b[^>]*href="([^"#]+)#sha256=([0-9a-f]{64})"[^>]*>\s*(pip-([0-9.]+)-py3-none-any\.whl)\s*</a>', page):
        url, digest, name, version = link.groups()
        if "data-yanked" not in link.group(0):
            found.append((tuple(map(int, version.split("."))), name, urllib.parse.urljoin(address, html.unescape(url)), digest))
    if not found:
        sys.exit(f"no pip is listed at {address}")
    return max(found)[1:]


def fetch_pip(folder: Path) -> Path:
    """pip's wheel from the package index."""
    address = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
    try:
        request = urllib.request.Request(address, headers={"Accept": "text/html"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            name, url, digest = newest_pip(reply.read().decode(), address)
        with urllib.request.urlopen(url, timeout=120) as reply:
            body = reply.read()
    except urllib.error.URLError as error:
        sys.exit(f"pip cannot be fetched from {address}: {error.reason}\nIs there a network, and are ca-certificates installed?")
    if hashlib.sha256(body).hexdigest() != digest:
        sys.exit(f"{name} is damaged: its hash is not the one in the index")
    (folder / name).write_bytes(body)
    return folder / name


def make(venv: Path) -> Path:
    """The environment's python, with pip."""
    python = venv / "bin" / "python"
    if python.exists() and subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
        return python
    if importlib.util.find_spec("ensurepip") is not None:
        run(sys.executable, "-m", "venv", str(venv))
        return python
    run(sys.executable, "-m", "venv", "--without-pip", str(venv))
    with tempfile.TemporaryDirectory() as folder:
        wheel = fetch_pip(Path(folder))
        run(str(python), f"{wheel}/pip", "install", "--quiet", str(wheel))
    return python


def has_compiler() -> bool:
    return bool(os.environ.get("ATOLL_CC")) or any(shutil.which(name) for name in ("cc", "gcc", "clang"))


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  told in words on an old machine
        sys.exit("Atoll needs Python 3.11 or later")
    venv, *extras = sys.argv[1:] or [".venv"]
    python = make(Path(venv))
    if not has_compiler():
        extras.append("cc")
    wanted = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", wanted)


if __name__ == "__main__":
    main()
