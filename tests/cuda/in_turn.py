"""The corpus by several processes: whoever is free takes the next module, so that they end together; one that ends at a function is told, and another goes on after it.

A process reads a line for every module, [module, functions to leave out], and writes a line for every function before it is begun, [name, null], and after it, [name, word]; null after the last.
A device in error answers no later call of a process: such a process ends with IN_ERROR, which is not an error more.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TextIO

import atoll as at
from tests.fuzz.harness import TooSlow, time_limit
from tools.corpus import functions

IN_ERROR = 3


def answer(tried: Callable[[at.Function], str], till: float, patience: int) -> None:
    """What a process does: `tried` tells in a word how a function went; those that would begin after `till` (of time.time()) have no time."""
    asked, answers = _apart()
    for line in asked:
        module, left_out = json.loads(line)
        for name, f in functions(module):
            if name in left_out:
                continue
            if time.time() > till:
                print(json.dumps([name, "no time"]), file=answers, flush=True)
                continue
            print(json.dumps([name, None]), file=answers, flush=True)
            word = _word(tried, f, patience)
            print(json.dumps([name, word]), file=answers, flush=True)
            if word.startswith("WRONG") and "E0842" in word:
                sys.exit(IN_ERROR)
        print("null", file=answers, flush=True)


def _apart() -> tuple[TextIO, TextIO]:
    """What came in and what goes out, where no program that is tried can read or write it."""
    asked, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return asked, answers


def _word(tried: Callable[[at.Function], str], f: at.Function, patience: int) -> str:
    try:
        with time_limit(patience), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return tried(f)
    except (TooSlow, KeyboardInterrupt):
        return "slow"
    except MemoryError:
        return "too large"
    except at.Error as error:
        return f"not compiled: {error.code}"
    except Exception as error:  # noqa: BLE001  finding those is the purpose
        return f"WRONG {type(error).__name__}: {error}"[:600]


def ask(command: list[str], names: Iterable[str], jobs: int) -> dict[str, str]:
    """The word of every function of these modules, by so many processes of this command."""
    waiting: queue.Queue[str] = queue.Queue()
    for name in names:
        waiting.put(name)
    words: dict[str, str] = {}

    def work() -> None:
        process = None
        while True:
            try:
                module = waiting.get_nowait()
            except queue.Empty:
                break
            left_out: list[str] = []
            while True:
                process = process or subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                if _module(process, module, left_out, words):
                    break
                process = None
        if process is not None:
            process.stdin.close()
            process.wait()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return words


def _module(process: subprocess.Popen[str], module: str, left_out: list[str], words: dict[str, str]) -> bool:
    """Whether the process came to the end of it; where not, what it began is left out of the next try, or the module is told as a whole."""
    begun = None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps([module, left_out]) + "\n")
        process.stdin.flush()
    for line in process.stdout:
        if line == "null\n":
            return True
        name, word = json.loads(line)
        begun = name if word is None else None
        if word is not None:
            words[name] = word
            left_out.append(name)
    code = process.wait()
    if code == IN_ERROR and begun is None:
        return False
    name = begun or module
    words[name] = f"WRONG the process ended with {code}"
    left_out.append(name)
    return begun is None


def told(words: dict[str, str], on: str) -> int:
    """Counts, and what is wrong; whether something is, as a process ends."""
    wrong = {name: word for name, word in sorted(words.items()) if word.startswith("WRONG")}
    for name, word in wrong.items():
        print(f"{name}: {word}")
    counts = Counter(word.split(" at size")[0].split(":")[0] for word in words.values())
    print(f"{len(words)} functions {on}:", ", ".join(f"{word} {count}" for word, count in counts.most_common()))
    return 1 if wrong else 0
