"""Looking at a program in a process of its own, with a limit of time: an editor or a page never waits for a program, and never runs it itself.

The worker says when it has started, reads requests, one JSON object a line, and answers each in one line, with the processor time it took. `Worker.ask` sends one and
waits; when the answer does not come in time, the process is ended and the next request starts another. The limit is one of processor time, so that a machine with much
to do does not fail programs; on the clock it is six times as long, for those that sleep.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from atoll.errors import Error

Data = dict[str, Any]
ON_THE_CLOCK = 6  # seconds for each second of processor time that a question may take
STARTING = 60.0  # seconds a process may take to start
KEPT = 8  # files whose functions are kept for the next look


class TooLong(Exception):
    """No answer in time."""


class Worker:
    """The process that elaborates. Ask it from any thread; one question at a time is worked on."""

    def __init__(self, limit: float = 10.0) -> None:
        self.limit = limit
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._lock = threading.Lock()

    def ask(self, do: str, limit: float | None = None, **given: Any) -> Data:
        """The answer; {"problem": text} when there is none."""
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps({"do": do, **given}) + "\n")
                process.stdin.flush()
                found = json.loads(self._answer(process.pid, self.limit if limit is None else limit))
            except (queue.Empty, OSError, ValueError):
                ended = self._has_ended(process)
                self._end()
                raise TooLong("the program ended Python" if ended else f"no answer within {self.limit if limit is None else limit:g} s") from None
            assert isinstance(found, dict)
            return found

    @staticmethod
    def _has_ended(process: subprocess.Popen[str]) -> bool:
        """A process whose pipe is closed may need a moment more to be gone."""
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _answer(self, pid: int, limit: float) -> str:
        until, spent = time.monotonic() + limit * ON_THE_CLOCK, processor_time(pid)
        while True:
            try:
                return self._answers.get(timeout=min(0.25, limit))
            except queue.Empty:
                if time.monotonic() > until or processor_time(pid) - spent > limit:
                    raise

    def close(self) -> None:
        with self._lock:
            self._end()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        root = str(Path(__file__).resolve().parents[2])
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])]), "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-m", "atoll.eyes.worker"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8", env=env)
        answers: queue.Queue[str] = queue.Queue()

        def listen() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                answers.put(line)
            answers.put("")  # the end is an answer, too

        threading.Thread(target=listen, daemon=True).start()
        self._process, self._answers = process, answers
        try:
            answers.get(timeout=STARTING)  # it says that it is there; importing is nobody's program
        except queue.Empty:
            pass  # the question will be late
        return process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None and not stream.closed:
                    try:
                        stream.close()
                    except OSError:
                        pass
            self._process = None


def processor_time(pid: int) -> float:
    """Seconds of processor time of a process; where nobody says, the clock's."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError, AttributeError):
        return time.monotonic()


class Answers:
    """What the process does: the file it looked at last, and questions about its functions."""

    def __init__(self) -> None:
        from atoll.eyes.facts import File
        from atoll.eyes.modules import Others

        self.file = File("", "")
        self.files: dict[str, File] = {}  # the last that were looked at
        self.others = Others()

    def answer(self, request: Data) -> Data:
        return getattr(self, f"do_{request.pop('do')}")(**request)  # type: ignore[no-any-return]

    def do_look(self, path: str, text: str, first: str | None = None) -> Data:
        """With `first`, of that function alone; `rest` tells about all."""
        from atoll.eyes.facts import read_file

        if self.others.changed():
            self.files.clear()
        elif path in self.files and self.files[path].text == text:
            self.file = self.files[path]
            return self._found(first)
        with self.others.watched():
            self.file = read_file(path, text, self.files.pop(path, None))
        self.files[path] = self.file
        while len(self.files) > KEPT:
            del self.files[next(iter(self.files))]
        return self._found(first)

    def do_rest(self, seconds: float | None = None) -> Data:
        """All functions, or as many more as can be looked at in so much processor time: whoever asks may have something else to ask then."""
        return self._found(None, seconds)

    def _found(self, first: str | None, seconds: float | None = None) -> Data:
        from atoll.eyes.facts import told

        with self.others.watched():
            return told(self.file, first, seconds)

    def do_panes(self, name: str, stages: list[str]) -> Data:
        from atoll.eyes.panes import panes

        if self.file.path.endswith(".madl"):
            from atoll.eyes.panes import madl_panes

            return madl_panes(self.file, name)
        if name in self.file.schedules:
            from atoll.eyes.panes import schedule_panes

            return schedule_panes(*self.file.schedules[name])
        if name not in self.file.functions:
            return {"panes": {"inserted": [[f"{name} is no entry point: it is compiled as part of those that use it", []]]}}
        return panes(self.file.at(name), stages)

    def do_reasons(self, name: str) -> Data:
        known = name in self.file.functions
        return {"reasons": {str(line): said for line, said in self.file.at(name).reasons.items()} if known else {}}

    def do_measure(self, name: str, sizes: dict[str, int]) -> Data:
        from atoll.eyes.panes import measured

        return measured(self.file.functions[name], sizes)

    def do_sizes(self, name: str, sizes: dict[str, int]) -> Data:
        from atoll.eyes.panes import at_sizes

        return at_sizes(self.file.at(name), sizes)

    def do_text(self, name: str, stage: str) -> Data:
        """A stage of a function as text."""
        if self.file.path.endswith(".madl"):
            from atoll.eyes.panes import madl_text

            return {"text": madl_text(self.file, name, stage)}
        if name not in self.file.functions:
            return {"problem": f"{name} is no entry point: it is compiled as part of those that use it"}
        f = self.file.functions[name]
        return {"text": str(f.memory()) if stage == "memory" else f.show(stage)}


def main() -> None:
    """Answer requests until there are none. What programs print goes nowhere and what they read is empty: the pipes are ours. Garbage is collected while nobody waits."""
    out, given = os.fdopen(os.dup(1), "w", encoding="utf-8"), os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    answers = Answers()
    requests: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(given, requests), daemon=True).start()
    gc.freeze()
    gc.disable()
    out.write("{}\n")
    while True:
        out.flush()
        line = _next(requests)
        if not line:
            return
        start = time.process_time()
        try:
            found = answers.answer(json.loads(line))
        except Error as error:
            found = {"problem": str(error)}
        except Exception as error:  # noqa: BLE001  told to whoever asked
            found = {"problem": f"{type(error).__name__}: {error}"}
        out.write(json.dumps({**found, "cpu_ms": round((time.process_time() - start) * 1000, 1)}) + "\n")


def _listen(given: TextIO, requests: queue.Queue[str]) -> None:
    for line in given:
        requests.put(line)
    requests.put("")


def _next(requests: queue.Queue[str]) -> str:
    try:
        return requests.get(timeout=0.4)
    except queue.Empty:
        gc.collect()
        return requests.get()


if __name__ == "__main__":
    main()
