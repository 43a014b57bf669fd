"""The documentation runs: every example of README.md and docs/*.md is executed, and what it prints is compared.

    ```python     executed; the blocks of one file share a namespace, in order. A block whose first line is `# file: blur.py` is also
                  written to that file, in a folder of the document's own.
    ```text       directly after a python block: what the block prints (and the error it ends with, if it ends with one); `...` stands
                  for anything.
    ```text sketch  the same, for what changes as the compiler gets better (loops, C): the first line is compared; `make docs` writes it anew.
    ```console    lines `$ atoll ...` are run in the document's folder and the lines below each are its output, compared in the same way.

Other blocks (sh, c, madl) are not looked at. Errors name the block as `example.py`, with lines counted from the block's first line.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

import atoll as at
from atoll import cli
from atoll.elaborate.builtins.names import BUILTINS
from tools import error_codes

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@dataclass(frozen=True)
class Block:
    language: str
    line: int  # of the first line of the text, in the document
    text: str
    follows: bool  # nothing but blank lines since the block before
    sketch: bool = False


def blocks_of(document: str) -> list[Block]:
    """The fenced blocks of a Markdown text."""
    found: list[Block] = []
    inside: list[str] | None = None
    language, start, indent, last_end, sketch = "", 0, 0, -1, False
    lines = document.splitlines()
    for number, line in enumerate(lines, 1):
        fence = re.match(r"^( *)```(\S*) *(\S*)", line)
        if inside is None and fence:
            inside, language, start, indent = [], fence.group(2), number + 1, len(fence.group(1))
            sketch = fence.group(3) == "sketch"
        elif inside is not None and line.strip() == "```":
            follows = last_end >= 0 and not "".join(lines[last_end : start - 2]).strip()
            found.append(Block(language, start, "\n".join(inside) + "\n", follows, sketch))
            inside, last_end = None, number
        elif inside is not None:
            inside.append(line[indent:])
    assert inside is None, f"the block that begins in line {start} does not end"
    return found


def fits(expected: str, found: str) -> bool:
    """Equal line by line, up to trailing space; `...` stands for anything."""

    def tidy(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())

    pattern = ".*?".join(map(re.escape, tidy(expected).split("...")))
    return re.fullmatch(pattern, tidy(found), re.DOTALL) is not None


def execute(block: Block, number: int, namespace: dict[str, object], folder: Path) -> tuple[str, BaseException | None]:
    """What a block prints, and the Atoll error that ends it."""
    named = re.match(r"# file: (\S+)\n", block.text)
    path = folder / named.group(1) if named else folder / f"block{number}" / "example.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(block.text)
    linecache.checkcache(str(path))
    namespace["__file__"] = str(path)
    printed, problem = io.StringIO(), None
    with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
        try:
            exec(compile(block.text, str(path), "exec", dont_inherit=True), namespace)  # noqa: S102  our own documents
        except at.Error as error:
            problem = error
    text = printed.getvalue() + (f"{problem}\n" if problem is not None else "")
    return text.replace(f"{path.parent}/", ""), problem


def run_console(block: Block, folder: Path, where: str) -> None:
    """Run the `$ atoll` lines of a block and compare what they print."""
    for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = piece.partition("\n")
        program, *words = shlex.split(command, comments=True)
        assert program == "atoll", f"{where}: only `$ atoll ...` can be run, not {command!r}; use a ```sh block"
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.chdir(folder):
            cli.main(words)
        found = out.getvalue().replace(f"{folder}/", "")
        assert fits(expected, found), f"{where}: `{command}` prints\n{found}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.stem)
def test_document(path: Path, tmp_path: Path) -> None:
    blocks = blocks_of(path.read_text())
    module = types.ModuleType(f"document_{path.stem}")
    sys.modules[module.__name__] = module
    try:
        for number, block in enumerate(blocks):
            where = f"{path.relative_to(ROOT)}:{block.line}"
            if block.language == "console":
                run_console(block, tmp_path, where)
            if block.language != "python":
                continue
            try:
                found, problem = execute(block, number, module.__dict__, tmp_path)
            except Exception as error:  # noqa: BLE001  told with its place in the document
                pytest.fail(f"{where}: {type(error).__name__}: {error}")
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            if after is not None and after.follows and after.language == "text":
                if after.sketch:
                    assert fits(after.text.partition("\n")[0], found.partition("\n")[0]), f"{where} prints\n{found}"
                else:
                    assert fits(after.text, found), f"{where} prints\n{found}"
            elif problem is not None:
                pytest.fail(f"{where} ends with an error that no ```text block announces\n{problem}")
    finally:
        del sys.modules[module.__name__]


def test_links() -> None:
    """Every page is linked from README.md once, and every link between pages leads somewhere."""
    table = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| [docs/")]
    assert sorted(re.findall(r"\((docs/\w+\.md)\)", "\n".join(table))) == sorted(p.relative_to(ROOT).as_posix() for p in DOCUMENTS[1:])
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_errors_lists_every_code() -> None:
    """docs/errors.md is in step with the registry and the cases; `make docs` writes it."""
    text = (ROOT / "docs" / "errors.md").read_text()
    assert text.endswith(error_codes.listing()), "run `make docs`"


def test_reference_has_an_example_of_every_built_in_name() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    used = set(re.findall(r"\w+", " ".join(b.text for b in blocks_of(text) if b.language == "python")))
    told = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", text))))
    assert not sorted(BUILTINS - used - told)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    """Examples run to their end with `--quick`, which makes them use small data."""
    done = subprocess.run([sys.executable, str(path), "--quick"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_runner_itself(tmp_path: Path) -> None:
    """Blocks are found with their lines, wildcards match, and an error is reported with the block's own lines."""
    document = "a\n```python\nx = 1\n```\n\n```text\n1\n```\nb\n```console\n$ atoll\n```\n"
    found = blocks_of(document)
    assert [(b.language, b.line, b.follows) for b in found] == [("python", 3, False), ("text", 7, True), ("console", 11, False)]
    assert fits("a ... c\n", "a b\nb c\n") and not fits("a\n", "a b\n")
    wrong = Block("python", 1, "import atoll as at\n@at.fn\ndef f(x: at.f64):\n    return y\nprint(1)\nf.type\n", False)
    text, problem = execute(wrong, 0, {"__name__": "wrong"}, tmp_path)
    assert isinstance(problem, at.ParseError)
    assert text.startswith("1\nE0105: the name y is not defined here\n  --> example.py:4:12, in f\n   4 |     return y\n")


def test_architecture_is_true_to_the_tree() -> None:
    """Every folder is in the tour, and every file the tour names is there."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    folders = {p.parent.relative_to(ROOT).as_posix() for p in (ROOT / "atoll").glob("*/*.py")}
    missing = sorted(folder for folder in folders if f"`{folder}/" not in text)
    assert not missing
    for folder, names in re.findall(r"^\| `(atoll/[\w/]+)/` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE):
        for name in re.findall(r"`([\w/]+\.(?:py|c))`", names):
            assert (ROOT / folder / name).exists(), f"{folder}/{name}"
    others = "\n".join(line for line in text.splitlines() if not line.startswith("| `atoll/"))
    for name in re.findall(r"`((?:\w+/)+\w+\.(?:py|c))`", others):
        assert (ROOT / "atoll" / name).exists() or (ROOT / name).exists(), name
