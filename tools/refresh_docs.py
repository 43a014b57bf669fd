"""Write what the examples of README.md and docs/*.md print into them anew: `make docs`.

Only the blocks that are sketches (the text of loops, of C) and those that contain nothing but `...` are written; everything else is
compared by tests/test_docs.py and changed by hand.
"""

from __future__ import annotations

import sys
import tempfile
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.test_docs import DOCUMENTS, Block, blocks_of, execute


def refreshed(document: str, folder: Path) -> str:
    """The document with its sketches written anew."""
    module = types.ModuleType("document")
    sys.modules[module.__name__] = module
    blocks = blocks_of(document)
    edits: list[tuple[Block, str]] = []
    for number, block in enumerate(blocks):
        if block.language != "python":
            continue
        printed, _ = execute(block, number, module.__dict__, folder)
        after = blocks[number + 1] if number + 1 < len(blocks) else None
        if after is not None and after.follows and after.language == "text" and (after.sketch or after.text.strip() == "..."):
            edits.append((after, printed))
    lines = document.splitlines()
    for block, printed in reversed(edits):
        first, count = block.line - 1, len(block.text.splitlines())
        lines[first : first + count] = [line.rstrip() for line in printed.strip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def main() -> None:
    for path in DOCUMENTS:
        before = path.read_text()
        with tempfile.TemporaryDirectory() as folder:
            after = refreshed(before, Path(folder))
        if after != before:
            path.write_text(after)
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
