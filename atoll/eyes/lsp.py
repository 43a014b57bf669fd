"""`atoll lsp`: a language server on standard input and output (pygls). What it knows comes from a worker process with a limit of time (worker.py), so no
program hangs the editor; definitions and renames come from the syntax alone (names.py)."""

from __future__ import annotations

import asyncio
import keyword
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlparse

from lsprotocol import types as t
from pygls.lsp.server import LanguageServer

from atoll.eyes.names import Spot, Text, Words
from atoll.eyes.worker import TooLong, Worker

WAIT = 0.15  # seconds without a keystroke before a text is looked at
LIMIT = 10.0  # seconds a file may take


@dataclass
class Document:
    """A text as it was last looked at."""

    version: int = 0
    text: str = ""
    facts: dict[str, Any] = field(default_factory=lambda: {"functions": [], "problems": []})


class Server(LanguageServer):
    """One worker, one document record per open file."""

    def __init__(self, limit: float = LIMIT) -> None:
        from atoll import __version__

        super().__init__("atoll", __version__)
        self.worker = Worker(limit)
        self.documents: dict[str, Document] = {}

    def lines(self, uri: str) -> list[str]:
        return self.workspace.get_text_document(uri).source.splitlines()

    def names(self, uri: str) -> Text | Words:
        """The names of a document as it is now."""
        text = self.workspace.get_text_document(uri).source
        if not uri.endswith((".madl", ".fut")):
            return Text(text)
        return Words(text, self.documents.get(uri, Document()).facts["functions"], uri.endswith(".fut"))

    def size_spots(self, uri: str, at: tuple[int, int]) -> list[Spot]:
        """Every place of the size under a place."""
        names = self.names(uri)
        name = names.name_at(*at)
        if name is None:
            return []
        return names.places_of_size(name) if isinstance(names, Text) else names.places_of_size(name, at[0])

    def range(self, uri: str, place: list[int]) -> t.Range:
        lines = self.lines(uri)
        return t.Range(_position(lines, place[0], place[1]), _position(lines, place[2], place[3]))


def _position(lines: list[str], line: int, column: int) -> t.Position:
    """A place in characters, in the editor's units of UTF-16."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return t.Position(max(0, line - 1), len(text[:column].encode("utf-16-le")) // 2)


def _place(lines: list[str], p: t.Position) -> tuple[int, int]:
    """The editor's position, in characters."""
    text = lines[p.line] if p.line < len(lines) else ""
    return p.line + 1, len(text.encode("utf-16-le")[: 2 * p.character].decode("utf-16-le", errors="replace"))


def path_of(uri: str) -> str:
    parsed = urlparse(uri)
    return unquote(parsed.path) if parsed.scheme == "file" else uri


async def refresh(ls: Server, uri: str) -> None:
    """Look at the newest text of a document, once it has been still for a moment, and publish what is wrong."""
    document = ls.documents.setdefault(uri, Document())
    document.version += 1
    version = document.version
    await asyncio.sleep(WAIT)
    if version != document.version:
        return
    text = ls.workspace.get_text_document(uri).source
    try:
        found = await asyncio.to_thread(ls.worker.ask, "look", path=path_of(uri), text=text)
    except TooLong as late:
        found = {"functions": [], "problems": [], "late": str(late)}
    if version != document.version:
        return
    document.text, document.facts = text, {"functions": [], "problems": [], **found}
    diagnostics = [_diagnostic(ls, uri, p) for p in document.facts["problems"]]
    if "late" in found:
        whole = t.Range(t.Position(0, 0), t.Position(0, 0))
        diagnostics.append(t.Diagnostic(whole, f"Atoll: {found['late']}; the file is not checked", t.DiagnosticSeverity.Warning, source="atoll"))
    ls.text_document_publish_diagnostics(t.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics))


def _diagnostic(ls: Server, uri: str, p: dict[str, Any]) -> t.Diagnostic:
    message = "\n".join([p["message"], *p["notes"], *([f"help: {p['help']}"] if p["help"] else [])])
    severity = t.DiagnosticSeverity.Warning if p["code"] == "python" else t.DiagnosticSeverity.Error
    return t.Diagnostic(ls.range(uri, p["place"]), message, severity, code=p["code"], source="atoll", data={"edits": p["edits"], "help": p["help"]})


def _inside(place: list[int], line: int, column: int) -> bool:
    return (place[0], place[1]) <= (line, column) <= (place[2], place[3])


def _size(place: list[int]) -> tuple[int, int]:
    return place[2] - place[0], place[3] - place[1]


def _range_of(lines: list[str], s: Spot) -> t.Range:
    return t.Range(_position(lines, s.line, s.column), _position(lines, s.line, s.end))


def _head(lines: list[str], line: int) -> tuple[int, int]:
    """Where the head of a function ends: before its colon."""
    while line <= len(lines):
        text = lines[line - 1].rstrip()
        if text.endswith(":"):
            return line, len(text) - 1
        line += 1
    return line, 0


async def _opened(ls: Server, p: t.DidOpenTextDocumentParams) -> None:
    await refresh(ls, p.text_document.uri)


async def _changed(ls: Server, p: t.DidChangeTextDocumentParams) -> None:
    await refresh(ls, p.text_document.uri)


def _closed(ls: Server, p: t.DidCloseTextDocumentParams) -> None:
    ls.documents.pop(p.text_document.uri, None)


def _shutdown(ls: Server, _: None) -> None:
    ls.worker.close()


async def _hover(ls: Server, p: t.HoverParams) -> t.Hover | None:
    uri = p.text_document.uri
    line, column = _place(ls.lines(uri), p.position)
    facts = ls.documents.get(uri, Document()).facts
    names = ls.names(uri)
    name = names.name_at(line, column)
    parts: list[str] = []
    where: list[int] | None = None
    for f in facts["functions"]:
        for *place, shown in f["types"]:
            if _inside(place, line, column) and (where is None or _size(place) <= _size(where)):
                where, parts = place, [f"```python\n{shown}\n```"]
    for f in facts["functions"]:
        if f["name"] == name and f["type"]:
            parts = [f"```python\n{f['type']}\n```", await _memory(ls, uri, f["name"])]
        parts += [f"lifted: `{shown}`" for *place, shown in f["inserted"] if _inside(place, line, column)]
    if not parts and name is not None:
        known = names.axes_of_size(name, line) if isinstance(names, Text) else names.type_of(name, line)
        parts = [f"```python\n{known}\n```"] if known else []
    said = "\n\n".join(part for part in parts if part)
    return t.Hover(t.MarkupContent(t.MarkupKind.Markdown, said), ls.range(uri, where) if where else None) if said else None


async def _memory(ls: Server, uri: str, name: str) -> str:
    """Bytes, where the function compiles in time."""
    document = ls.documents[uri]
    try:
        await asyncio.to_thread(ls.worker.ask, "look", path=path_of(uri), text=document.text)
        found = await asyncio.to_thread(ls.worker.ask, "text", name=name, stage="memory")
    except TooLong:
        return ""
    return f"```\n{found['text']}\n```" if "text" in found else ""


def _hints(ls: Server, p: t.InlayHintParams) -> list[t.InlayHint]:
    uri = p.text_document.uri
    lines, found = ls.lines(uri), []
    for f in ls.documents.get(uri, Document()).facts["functions"]:
        if f["result"] and not f.get("derived"):
            head = _head(lines, f["place"][0])
            found.append(t.InlayHint(_position(lines, *head), f" -> {f['result']}", kind=t.InlayHintKind.Type, padding_left=False))
        ends: dict[int, str] = {}
        for *place, shown in f["inserted"]:
            ends[place[2]] = shown
        for line, shown in ends.items():
            length = len(lines[line - 1]) if line <= len(lines) else 0
            found.append(t.InlayHint(_position(lines, line, length), f"  {shown}", padding_left=True, tooltip="with the maps and conversions that Atoll inserted"))
    return [h for h in found if p.range.start.line <= h.position.line <= p.range.end.line]


def _definition(ls: Server, p: t.DefinitionParams) -> t.Location | None:
    uri = p.text_document.uri
    lines = ls.lines(uri)
    found = ls.names(uri).definition(*_place(lines, p.position))
    return t.Location(uri, _range_of(lines, found)) if found is not None else None


def _may_rename(ls: Server, p: t.PrepareRenameParams) -> t.PrepareRenameResult | None:
    uri = p.text_document.uri
    lines = ls.lines(uri)
    at = _place(lines, p.position)
    here = [s for s in ls.size_spots(uri, at) if s.line == at[0] and s.column <= at[1] <= s.end]
    return _range_of(lines, here[0]) if here else None


def _rename(ls: Server, p: t.RenameParams) -> t.WorkspaceEdit | None:
    uri = p.text_document.uri
    lines = ls.lines(uri)
    spots = ls.size_spots(uri, _place(lines, p.position)) if p.new_name.isidentifier() and not keyword.iskeyword(p.new_name) else []
    return t.WorkspaceEdit(changes={uri: [t.TextEdit(_range_of(lines, s), p.new_name) for s in spots]}) if spots else None


def _actions(ls: Server, p: t.CodeActionParams) -> list[t.CodeAction]:
    uri, found = p.text_document.uri, []
    for d in p.context.diagnostics:
        data: Any = d.data
        if d.source == "atoll" and data and data.get("edits"):
            edits = [t.TextEdit(ls.range(uri, e["place"]), e["text"]) for e in data["edits"]]
            found.append(t.CodeAction(data["help"], t.CodeActionKind.QuickFix, [d], is_preferred=True, edit=t.WorkspaceEdit(changes={uri: edits})))
    return found


def _lenses(ls: Server, p: t.CodeLensParams) -> list[t.CodeLens]:
    uri = p.text_document.uri
    functions = [f for f in ls.documents.get(uri, Document()).facts["functions"] if f.get("shows")]
    return [t.CodeLens(ls.range(uri, f["place"]), t.Command("show loops", "atoll.show", arguments=[uri, f["name"], "loops"])) for f in functions]


async def _show(ls: Server, uri: str, name: str, stage: str) -> str:
    """The text of a function at a stage."""
    document = ls.documents.get(uri, Document())
    try:
        await asyncio.to_thread(ls.worker.ask, "look", path=path_of(uri), text=document.text)
        found = await asyncio.to_thread(ls.worker.ask, "text", name=name, stage=stage)
    except TooLong as late:
        return str(late)
    return str(found.get("text") or found.get("problem"))


# What editors ask for, who answers it, and what is told about it when the two meet.
FEATURES: tuple[tuple[str, Callable[..., Any], Any], ...] = (
    (t.TEXT_DOCUMENT_DID_OPEN, _opened, None),
    (t.TEXT_DOCUMENT_DID_CHANGE, _changed, None),
    (t.TEXT_DOCUMENT_DID_CLOSE, _closed, None),
    (t.SHUTDOWN, _shutdown, None),
    (t.TEXT_DOCUMENT_HOVER, _hover, None),
    (t.TEXT_DOCUMENT_INLAY_HINT, _hints, None),
    (t.TEXT_DOCUMENT_DEFINITION, _definition, None),
    (t.TEXT_DOCUMENT_PREPARE_RENAME, _may_rename, None),
    (t.TEXT_DOCUMENT_RENAME, _rename, t.RenameOptions(prepare_provider=True)),
    (t.TEXT_DOCUMENT_CODE_ACTION, _actions, t.CodeActionOptions(code_action_kinds=[t.CodeActionKind.QuickFix])),
    (t.TEXT_DOCUMENT_CODE_LENS, _lenses, None),
)
COMMANDS: dict[str, Callable[..., Any]] = {"atoll.show": _show}


def serve(limit: float = LIMIT) -> Server:
    """The server with everything it can do."""
    server = Server(limit)
    for name, answer, options in FEATURES:
        server.feature(name, options)(answer)
    for name, answer in COMMANDS.items():
        server.command(name)(answer)
    return server


def main() -> None:
    serve().start_io()


if __name__ == "__main__":
    main()
