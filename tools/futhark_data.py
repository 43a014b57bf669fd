"""Data of futhark-benchmarks that its repository once held: python tools/futhark_data.py CHECKOUT REPOSITORY

Most data of the collection lies on a server of its own: `external-data.txt` names each file, its address and its SHA-256. Until 2023 much of it was in the
repository itself, so a clone with its history still has it. Every object of REPOSITORY (a clone or its git directory) whose SHA-256 stands in
CHECKOUT/external-data.txt is written where the checkout's links expect it; the sum is what makes it the reference data. Nothing is fetched.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def wanted(checkout: Path) -> dict[str, list[str]]:
    """The paths that each SHA-256 belongs to."""
    found: dict[str, list[str]] = {}
    for line in (checkout / "external-data.txt").read_text(encoding="utf-8").splitlines():
        path, _, digest = line.split()
        found.setdefault(digest, []).append(path)
    return found


def objects(repository: Path) -> Iterator[bytes]:
    """All files that any commit of a repository has; what a partial copy lacks is left out."""
    git = ["git", "-C", str(repository), "cat-file"]
    listed = subprocess.run([*git, "--batch-all-objects", "--batch-check"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if line.split()[1] == "blob"]
    with subprocess.Popen([*git, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as read:
        assert read.stdin is not None and read.stdout is not None
        for name in names:
            read.stdin.write(name.encode() + b"\n")
            read.stdin.flush()
            head = read.stdout.readline().split()
            if len(head) == 3:
                yield read.stdout.read(int(head[2]))
                read.stdout.read(1)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    checkout, repository = Path(sys.argv[1]), Path(sys.argv[2])
    asked = wanted(checkout)
    written = 0
    for content in objects(repository):
        for path in asked.get(hashlib.sha256(content).hexdigest(), []):
            file = (checkout / path).resolve()
            if not file.is_relative_to(checkout.resolve()):
                raise SystemExit(f"{path} lies outside of {checkout}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            written += 1
    print(f"{written} of {sum(map(len, asked.values()))} files of external-data.txt are in the history of {repository}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
