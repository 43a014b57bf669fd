"""Text of the user's inside C: in strings and in comments, where nothing of it may become code.

Trigraphs (`??/` is a backslash under -std=c99), quotes, the end of a comment, line ends, NUL and characters that are no text are all written so that they stay what they are.
"""

from __future__ import annotations

_LETTERS = frozenset(" !#$&'()*+,-./0123456789:;<=>@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~%")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\", "?": "\\?"}


LONGEST = 1000  # characters of a text in one string; C99 compilers need not take more than 4095


def characters(text: str) -> str:
    """A text of any length as the characters of an array, the 0 at its end included."""
    found = text.replace("\0", "\\0").encode(errors="replace") + b"\0"
    return ", ".join(str(byte - 256 if byte > 127 else byte) for byte in found)


def c_string(text: str) -> str:
    """A C string without its quotes: every byte of the text in UTF-8. A lone half of a surrogate pair is `?`; NUL, which would end it, is written `\\0` as Python does."""
    found = ""
    for c in text.replace("\0", "\\0"):
        if c == "?" and not found.endswith("?"):  # only the second of two begins a trigraph
            found += c
        elif c in _NAMED:
            found += _NAMED[c]
        elif c in _LETTERS:
            found += c
        else:
            found += "".join(f"\\{byte:03o}" for byte in c.encode(errors="replace"))
    return found


def c_comment(text: str) -> str:
    """Text that stands in a comment, on one line: it neither ends it nor begins another."""
    shown = "".join(c if c in _LETTERS or c in '"?' else " " if c.isspace() else f"<{ord(c):x}>" if not c.isalpha() else c for c in text.encode(errors="replace").decode())
    shown = shown.replace("*/", "* /").replace("/*", "/ *")
    while "??" in shown:
        shown = shown.replace("??", "? ?")
    return shown
