"""The error codes of Futhark files, E14xx."""

from __future__ import annotations

from atoll.errors import base as b

_P, _T, _S, _C = b.ParseError, b.TypeError, b.SizeError, b.CompileError

ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    ("E1400", _C, "Futhark files need the package lark", "pip install 'atoll[futhark]'", "The parser of .fut files is made with lark, which is installed with the extra `futhark`."),
    ("E1401", _P, "{what}", "", "The text is not a Futhark program."),
    ("E1402", _P, "Unknown {what} {name}", "", "A name is defined above its use, in the prelude, or in a module that is opened or imported."),
    ("E1403", _T, "{why}", "", "Types of Futhark programs are inferred: what a function is given has the type of its parameter, both branches have one type, functions are no elements of arrays, results of `if` or states of loops."),
    ("E1404", _S, "Sizes do not match: {why} ({found} where {expected} is expected)", "", "Sizes are part of Futhark's types; two are the same when they are written the same. `xs :> [n]t` gives a value the size that you know it has; it is checked when the program runs."),
    ("E1405", _T, "{what}", "", "A value that was consumed, by an update or as an argument of a unique type, cannot be used again, and neither can its aliases. Only what is one's own is consumed: unique parameters and what was made here."),
    ("E1406", _P, "{what}", "", "A definition that Futhark does not allow: see the message."),
    ("E1407", _T, "{what}", "", "The patterns of a `match` cover every value; patterns of `let` and of parameters match always."),
    ("E1408", _C, "Not supported: {what}", "", "Atoll reads this construct of Futhark but makes no code for it."),
    ("E1409", _T, "{name}: {text}", "", "at.futhark takes the path of a .fut file, or its text with source=."),
]
