"""Write the messages of all wrong programs anew."""

from __future__ import annotations

from . import FOLDER, cases, said

for path in sorted(FOLDER.glob("*.txt")):
    blocks = [f"### {title}\n{program}\n---\n{said(program)}\n" for title, program, _ in cases(path)]
    path.write_text("\n".join(blocks))
