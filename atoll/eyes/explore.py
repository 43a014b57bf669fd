"""`atoll explore FILE` and `f.explore()`: a local page with a program at every stage, side by side, linked by where lines come from.

The server is the standard library's, bound to the loopback address; every request carries a token that only the address it prints has, and must be addressed
to the loopback host, so that no other page can ask. The page (page.html) is plain JavaScript, loads nothing and runs nothing from elsewhere. What it shows comes from two
worker processes with a limit of time (worker.py): one reads texts and is never busy for long, one compiles; a question about a text that has been edited since is not worked on.
A function that no file has (of a notebook) is shown by this process, and cannot be edited.
"""

from __future__ import annotations

import html
import http.server
import json
import secrets
import threading
import time
import webbrowser
from pathlib import Path
from typing import Any, Protocol

from atoll.errors import Error
from atoll.errors.misuse import Misuse
from atoll.eyes.facts import problem, told
from atoll.eyes.worker import Answers, Data, TooLong, Worker
from atoll.function import Function
from atoll.stages import text_of

PAGE = Path(__file__).with_name("page.html")
POLICY = "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'"
LIMIT = 20.0  # seconds a question may take
READ = ("inserted", "core")  # stages that need no compiling


class Asked(Protocol):
    """Who answers: a worker, or ourselves."""

    def ask(self, do: str, limit: float | None = None, **given: Any) -> Data: ...

    def close(self) -> None: ...


class Here:
    """Answers about one function of this process."""

    def __init__(self, f: Function) -> None:
        self.f, self._answers = f, Answers()
        self._answers.file.path = f.surface.span.source.name
        self._answers.file.functions[f.name] = f
        self._lock = threading.Lock()

    def ask(self, do: str, limit: float | None = None, **given: Any) -> Data:
        with self._lock:
            try:
                return told(self._answers.file) if do in ("look", "rest") else self._answers.answer({"do": do, **given})
            except Error as error:
                return {"functions": [], "problems": [problem(error)], "problem": str(error)}

    def close(self) -> None:
        pass


class Explorer:
    """A page that is being served. `url` is its address; `close()` ends it."""

    def __init__(self, path: str, text: str, name: str = "", asked: Asked | None = None, first_line: int = 1) -> None:
        self.path, self.text, self.name, self.first_line = path, text, name, first_line
        self.editable = asked is None
        self.reads: Asked = asked if asked is not None else Worker(LIMIT)
        self.compiles: Asked = asked if asked is not None else Worker(LIMIT)
        self._one_at_a_time = threading.Lock()
        self._newest = 0  # the number of the text that was looked at last
        self.token = secrets.token_urlsafe(24)
        explorer = self

        class Handler(_Handler):
            page = explorer

        self.server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/{self.token}/"

    def answer(self, request: Data) -> Data:
        """One question of the page."""
        do = request.get("do")
        if do not in ("look", "rest", "panes", "reasons", "sizes", "measure"):
            return {"problem": "no such question"}
        number = int(request.pop("text_number", self._newest))
        start = time.perf_counter()
        try:
            if do == "look":
                if self.editable:
                    self.text = request["text"]
                self._newest = number
                found = self.reads.ask("look", path=self.path, text=self.text, first=request.get("first"))
            elif do == "rest" or (do == "panes" and set(request["stages"]) <= set(READ)):
                found = self.reads.ask(**request)
            else:
                found = self._compiled(number, request)
        except TooLong as late:
            found = {"problem": str(late), "functions": [], "problems": []}
        return {**found, "ms": round((time.perf_counter() - start) * 1000, 1)}

    def _compiled(self, number: int, request: Data) -> Data:
        """What the process that compiles answers, unless the text has changed until it is free."""
        with self._one_at_a_time:
            if number != self._newest:
                return {"stale": True}
            if self.compiles is not self.reads:
                self.compiles.ask("look", path=self.path, text=self.text, first=request["name"])
            return self.compiles.ask(**request)

    def document(self, nonce: str) -> str:
        """The page, with what it starts from."""
        start = {"path": self.path, "text": self.text, "name": self.name, "editable": self.editable, "first": self.first_line}
        data = json.dumps(start).replace("<", "\\u003c")
        return PAGE.read_text(encoding="utf-8").replace("{{nonce}}", nonce).replace("{{title}}", html.escape(Path(self.path).name)).replace("{{start}}", data)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.reads.close()
        self.compiles.close()

    def __repr__(self) -> str:
        return f"<the explorer of {Path(self.path).name} at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="640" style="border: 1px solid #8886"></iframe>'


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that went away before its answer came is nobody's problem."""


class _Handler(http.server.BaseHTTPRequestHandler):
    page: Explorer
    protocol_version = "HTTP/1.1"

    def _allowed(self) -> bool:
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        return host in ("127.0.0.1", "localhost") and secrets.compare_digest(self.path.strip("/").encode(), self.page.token.encode())

    def _send(self, status: int, kind: str, text: str, policy: str = "default-src 'none'") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", policy)
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if not self._allowed():
            self._send(404, "text/plain", "not found")
            return
        nonce = secrets.token_urlsafe(16)
        self._send(200, "text/html", self.page.document(nonce), POLICY.format(nonce=nonce))

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if not self._allowed() or length > 4_000_000 or self.headers.get("Content-Type") != "application/json":
            self.close_connection = True
            self._send(404, "text/plain", "not found")
            return
        try:
            found = self.page.answer(json.loads(self.rfile.read(length)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            found = {"problem": f"{type(error).__name__}: {error}"}
        self._send(200, "application/json", json.dumps(found))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""


def of_file(path: Path, name: str = "") -> Explorer:
    """The explorer of a file."""
    return Explorer(str(path), path.read_text(encoding="utf-8"), name)


def of_function(f: Function) -> Explorer:
    """The explorer of a function: of its file where it has one."""
    span = text_of(f).surface.span
    path = Path(span.source.name)
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == span.source.text:
        return of_file(path, f.name)
    return Explorer(span.source.name, span.source.text, f.name, Here(f), span.source.first_line)


def _refuse_unknown(explorer: Explorer, path: Path, name: str) -> None:
    there = [f["name"] for f in explorer.answer({"do": "look", "text": explorer.text, "first": name})["functions"]]
    if name not in there:
        explorer.close()
        raise Misuse(f"{path} has no function {name}" + (f" (there are: {', '.join(there)})" if there else ""))


def run(path: Path, name: str = "", show: bool = True) -> int:
    """Serve until Ctrl-C."""
    explorer = of_file(path, name)
    if name:
        _refuse_unknown(explorer, path, name)
    print(f"atoll explore: {explorer.url}  (Ctrl-C ends it)", flush=True)
    if show:
        webbrowser.open(explorer.url)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return 0
    finally:
        explorer.close()
