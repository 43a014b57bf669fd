"""How the command speaks: colours and width where a terminal is, JSON for tools, checking again when a file changes, completion for shells."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from atoll.eyes.facts import look
from atoll.eyes.worker import TooLong, Worker

RED, GREEN, FAINT, BOLD, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[1m", "\x1b[0m"


def colours(stream: TextIO) -> bool:
    """Whether a stream takes colours: a terminal does, unless NO_COLOR is set; FORCE_COLOR makes every stream take them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width(stream: TextIO) -> int | None:
    """Columns of a terminal; None where lines may be as long as they are."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def painted(text: str, stream: TextIO) -> str:
    """An error's text for a stream: coloured, and its excerpt cut to the width, around the caret."""
    lines = fitted(text.split("\n"), width(stream))
    if not colours(stream):
        return "\n".join(lines)
    out = []
    for number, line in enumerate(lines):
        if number == 0 and (code := re.match(r"E\d{4}: ", line)):
            line = f"{BOLD}{RED}{code[0]}{PLAIN}{BOLD}{line[code.end() :]}{PLAIN}"
        elif re.match(r"\s+\| +\^+$", line):
            line = f"{RED}{line}{PLAIN}"
        elif line.lstrip().startswith("-->"):
            line = f"{FAINT}{line}{PLAIN}"
        elif line.lstrip().startswith("help: "):
            line = f"{GREEN}{line}{PLAIN}"
        out.append(line)
    return "\n".join(out)


def fitted(lines: list[str], columns: int | None) -> list[str]:
    """Lines of an excerpt no wider than that: what is left of the caret goes first."""
    out = list(lines)
    for k in range(len(lines) - 1):
        head, caret = re.match(r"(\s*\d+ \| )(.*)", lines[k]), re.match(r"(\s*\| )( *)(\^+)$", lines[k + 1])
        if columns is None or head is None or caret is None or len(lines[k]) <= columns:
            continue
        room = max(20, columns - len(head[1]) - 1)
        start = max(0, min(len(caret[2]) - room // 4, len(head[2]) - room))
        out[k] = head[1] + ("…" if start else "") + head[2][start + bool(start) : start + room]
        out[k + 1] = caret[1] + " " * (len(caret[2]) - start) + caret[3][: max(1, room - (len(caret[2]) - start))]
    return out


def as_json(data: Any) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False)


def checked(path: Path, name: str | None) -> tuple[dict[str, Any], int]:
    """What `check --json` prints: functions with their types, and problems with places and edits; and the exit status."""
    found = look(str(path), path.read_text(encoding="utf-8", errors="replace"))[1]
    functions = [{"name": f["name"], "type": f["type"], "line": f["place"][0], "ok": not f.get("wrong")} for f in found["functions"] if name in (None, f["name"])]
    problems = [{key: p[key] for key in ("code", "message", "help", "place", "edits")} for p in found["problems"]]
    return {"file": str(path), "functions": functions, "problems": problems}, 1 if problems else 0


def watch(path: Path, say: Callable[[str], None], rounds: int | None = None, pause: float = 0.3) -> None:
    """Check a file, and again whenever it or a file beside it changes, until Ctrl-C (or so many times). Each time in a new process, so that nothing stale is left."""
    seen: object = None
    while rounds is None or rounds > 0:
        now = sorted((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in path.parent.glob(f"*{path.suffix}") if p.is_file())
        if now == seen:
            time.sleep(pause)
            continue
        seen = now
        rounds = None if rounds is None else rounds - 1
        worker = Worker(60.0)
        try:
            found = worker.ask("look", path=str(path), text=path.read_text(encoding="utf-8", errors="replace"))
            lines = [p["text"] for p in found["problems"]]
            wrong = sum(1 for _ in lines)
            right = [f"ok  {f['type']}" for f in found["functions"] if f["type"]]
            say("\n".join([*right, *(painted(text, sys.stdout) for text in lines), f"-- {time.strftime('%H:%M:%S')}  {len(right)} right, {wrong} wrong; waiting for {path.name} to change"]))
        except (TooLong, OSError) as late:
            say(f"-- {late}")
        finally:
            worker.close()


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """A script that completes commands, options and files in a shell."""
    commands: dict[str, list[str]] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands = {name: [s for a in sub._actions for s in a.option_strings if s.startswith("--")] for name, sub in action.choices.items()}
    names = " ".join(commands)
    if shell == "fish":
        lines = ["complete -c atoll -f", f"complete -c atoll -n '__fish_use_subcommand' -a '{names}'", "complete -c atoll -n 'not __fish_use_subcommand' -F"]
        for name, options in commands.items():
            lines += [f"complete -c atoll -n '__fish_seen_subcommand_from {name}' -l {option[2:]}" for option in options]
        return "\n".join(lines)
    cases = "\n".join(f"        {name}) words=\"{' '.join(options)}\" ;;" for name, options in commands.items())
    script = f"""_atoll() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{names}" -- "$current"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    case "$current" in
        -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
        *) COMPREPLY=($(compgen -f -X '!*.@(py|madl|fut|cert)' -- "$current") $(compgen -d -- "$current")) ;;
    esac
}}
shopt -s extglob 2>/dev/null
complete -o filenames -F _atoll atoll"""
    return script if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{script}"
