"""`atoll lsp` as editors see it: a real process, spoken to over its pipes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("pygls")
pytest_lsp = pytest.importorskip("pytest_lsp")

from lsprotocol import types as t  # noqa: E402
from pytest_lsp import ClientServerConfig, LanguageClient  # noqa: E402

TEXT = """\
import atoll as at
from atoll import f64
n, m = at.sizes("n m")

@at.fn
def good(a: f64[n, m], w: f64[m]):
    near = a * w  # é
    return sum(near)

@at.fn
def bad(a: f64[n]):
    return summ(a)

@at.fn
def own(n: at.i64) -> at.i64:
    return n + 1

1 / 0
"""
URI = "file:///tmp/atoll_lsp_document.py"


# 4 seconds of processor time: other programs on the machine do not count
@pytest_lsp.fixture(config=ClientServerConfig(server_command=[sys.executable, "-m", "atoll", "lsp", "--limit", "4"]))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await lsp_client.initialize_session(t.InitializeParams(capabilities=t.ClientCapabilities(), root_uri="file:///tmp"))
    yield
    await lsp_client.shutdown_session()


def at(line: int, column: int) -> t.TextDocumentPositionParams:
    return t.TextDocumentPositionParams(t.TextDocumentIdentifier(URI), t.Position(line, column))


async def open_text(client: LanguageClient, text: str) -> list[t.Diagnostic]:
    client.text_document_did_open(t.DidOpenTextDocumentParams(t.TextDocumentItem(URI, "python", 1, text)))
    await client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[URI])


async def change(client: LanguageClient, version: int, text: str) -> list[t.Diagnostic]:
    identifier = t.VersionedTextDocumentIdentifier(version, URI)
    client.text_document_did_change(t.DidChangeTextDocumentParams(identifier, [t.TextDocumentContentChangeWholeDocument(text)]))
    await client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[URI])


@pytest.mark.asyncio
async def test_a_session(client: LanguageClient) -> None:
    (wrong,) = await open_text(client, TEXT)  # what does not define anything is not run: no division by 0
    assert wrong.code == "E0105" and wrong.source == "atoll"
    assert wrong.range == t.Range(t.Position(11, 11), t.Position(11, 15))
    assert "did you mean sum?" in wrong.message

    document = t.TextDocumentIdentifier(URI)
    (action,) = await client.text_document_code_action_async(t.CodeActionParams(document, wrong.range, t.CodeActionContext([wrong])))
    assert isinstance(action, t.CodeAction) and action.edit is not None and action.edit.changes is not None
    assert list(action.edit.changes[URI]) == [t.TextEdit(wrong.range, "sum")]

    hover = await client.text_document_hover_async(t.HoverParams(document, t.Position(6, 15)))
    assert hover is not None and isinstance(hover.contents, t.MarkupContent)
    assert "f64[m]" in hover.contents.value and "lifted: `map(" in hover.contents.value
    for line, column, said in ((6, 5, "f64[n, m]"), (5, 16, "size n: axis 0 of a")):  # a name that is given a value; a size
        hover = await client.text_document_hover_async(t.HoverParams(document, t.Position(line, column)))
        assert hover is not None and isinstance(hover.contents, t.MarkupContent) and said in hover.contents.value
    hover = await client.text_document_hover_async(t.HoverParams(document, t.Position(5, 5)))
    assert hover is not None and isinstance(hover.contents, t.MarkupContent)
    assert "good(a: f64[n, m], w: f64[m]) -> f64[n]" in hover.contents.value and "8*n" in hover.contents.value  # type and bytes

    hints = await client.text_document_inlay_hint_async(t.InlayHintParams(document, t.Range(t.Position(0, 0), t.Position(30, 0))))
    assert hints is not None
    labels = {(h.position.line, str(h.label).strip()) for h in hints}
    assert (5, "-> f64[n]") in labels and any(line == 6 and text.startswith("map(") for line, text in labels)

    where = await client.text_document_definition_async(t.DefinitionParams(document, t.Position(7, 16)))
    assert isinstance(where, t.Location) and where.range.start == t.Position(6, 4)
    where = await client.text_document_definition_async(t.DefinitionParams(document, t.Position(5, 20)))
    assert isinstance(where, t.Location) and where.range.start == t.Position(2, 3)  # a size: where it is declared

    edit = await client.text_document_rename_async(t.RenameParams(document, t.Position(5, 16), "rows"))
    assert edit is not None and edit.changes is not None
    spots = sorted((e.range.start.line, e.range.start.character) for e in edit.changes[URI])
    assert spots == [(2, 0), (2, 17), (5, 16), (10, 15)]  # not the parameter n of `own`

    loops = await client.workspace_execute_command_async(t.ExecuteCommandParams("atoll.show", [URI, "good", "loops"]))
    assert "accumulate" in str(loops)
    lenses = await client.text_document_code_lens_async(t.CodeLensParams(document))
    assert lenses is not None and {lens.command.arguments[1] for lens in lenses if lens.command and lens.command.arguments} == {"good", "own"}

    assert await change(client, 2, TEXT.replace("summ", "sum")) == []
    (broken,) = await change(client, 3, TEXT.replace("summ(a)", "sum(a"))
    assert broken.code == "syntax" and broken.range.start.line == 11


@pytest.mark.asyncio
async def test_madl_and_futhark(client: LanguageClient) -> None:
    """Hover, definitions, renaming of sizes and loops for the other two languages."""
    examples = Path(__file__).parents[2] / "examples"

    async def opened(path: Path, language: str) -> t.TextDocumentIdentifier:
        uri = path.as_uri()
        client.text_document_did_open(t.DidOpenTextDocumentParams(t.TextDocumentItem(uri, language, 1, path.read_text())))
        await client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        assert list(client.diagnostics[uri]) == []
        return t.TextDocumentIdentifier(uri)

    async def hover(document: t.TextDocumentIdentifier, line: int, column: int) -> str:
        found = await client.text_document_hover_async(t.HoverParams(document, t.Position(line, column)))
        assert found is not None and isinstance(found.contents, t.MarkupContent)
        return found.contents.value

    async def renamed(document: t.TextDocumentIdentifier, line: int, column: int) -> list[tuple[int, int]]:
        edit = await client.text_document_rename_async(t.RenameParams(document, t.Position(line, column), "new"))
        assert edit is not None and edit.changes is not None
        return [(e.range.start.line, e.range.start.character) for e in edit.changes[document.uri]]

    madl = await opened(examples / "madl" / "biquad.madl", "madl")
    assert "sections : [m]section" in await hover(madl, 8, 18) and "v : f64" in await hover(madl, 12, 6) and "kept" in await hover(madl, 8, 6)
    assert await renamed(madl, 8, 13) == [(8, 13), (8, 31), (9, 63)]
    where = await client.text_document_definition_async(t.DefinitionParams(madl, t.Position(12, 14)))  # sample, in `v init !sample`
    assert isinstance(where, t.Location) and where.range.start == t.Position(9, 12)
    loops = await client.workspace_execute_command_async(t.ExecuteCommandParams("atoll.show", [madl.uri, "biquad", "loops"]))
    assert "biquad_start(" in str(loops)

    futhark = await opened(examples / "futhark" / "kmeans.fut", "futhark")
    assert "distance : [d]f64 -> [d]f64 -> f64" in await hover(futhark, 11, 6)
    assert await renamed(futhark, 11, 14) == [(11, 14), (11, 22), (11, 34)]
    where = await client.text_document_definition_async(t.DefinitionParams(futhark, t.Position(15, 15)))
    assert isinstance(where, t.Location) and where.range.start == t.Position(14, 6)
    lenses = await client.text_document_code_lens_async(t.CodeLensParams(futhark))
    shown = {lens.command.arguments[1] for lens in lenses or () if lens.command and lens.command.arguments}
    assert shown == {"step", "gradient"}  # entry points: the others are compiled as part of them


@pytest.mark.asyncio
async def test_it_never_hangs(client: LanguageClient) -> None:
    """A file that never ends is told as such, and the next one is looked at as if nothing had been."""
    (late,) = await open_text(client, "x = [0 for _ in iter(int, 1)]\n")
    assert "no answer within" in late.message and late.severity == t.DiagnosticSeverity.Warning
    assert [d.code for d in await change(client, 2, TEXT)] == ["E0105"]
