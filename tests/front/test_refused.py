"""Python that is not Atoll is refused by name: a code, the place underlined, what to write instead."""

import sys

import pytest

import atoll as at
from tests.front.modules import HEAD_LINES, load

# body | what is underlined | what the message calls it | part of the suggestion
REFUSED = [
    ("y = x; del y; return x", "del y", "`del`", "go out of use by themselves"),
    ("global z; return x", "global z", "`global`", "no effects"),
    ("def g(a):\n  nonlocal x\n  return a\nreturn x", "nonlocal x", "`nonlocal`", "no effects"),
    ("try:\n  y = x\nexcept ValueError:\n  y = x\nreturn y", "try:", "`try`", "with `if`"),
    ("try:\n  y = x\nexcept* ValueError:\n  y = x\nreturn y", "try:", "`try`", "with `if`"),
    ("raise ValueError", "raise ValueError", "`raise`", "assert condition, message"),
    ("with x as y:\n  return y", "with x as y:", "`with`", "no resources"),
    ("yield x", "yield x", "`yield`", "comprehension"),
    ("yield from x", "yield from x", "`yield from`", "comprehension"),
    ("import os\nreturn x", "import os", "`import` inside a function", "top of the file"),
    ("from os import path\nreturn x", "from os import path", "`import` inside a function", "top of the file"),
    ("class A: pass\nreturn x", "class A: pass", "a class inside a function", "@at.record"),
    ("async def g(a): return a\nreturn x", "async def g(a): return a", "`async def`", "use `def`"),
    ("return [y for v in x if (y := v) > 0]", "y := v", "`:=`", "a line of its own"),
    ("y = {1: 2}\nreturn x", "{1: 2}", "a dictionary", "record"),
    ("y = {a: a for a in x}\nreturn x", "{a: a for a in x}", "a dictionary comprehension", "arrays of keys"),
    ("y = {1, 2}\nreturn x", "{1, 2}", "a set", "array"),
    ("y = {a for a in x}\nreturn x", "{a for a in x}", "a set comprehension", "[...]"),
    ("for a, *b in x:\n  y = a\nreturn x", "*b", "`*` in a target", "take the parts by index and slice: first, rest = x[0], x[1:]"),
    ("a, *b = x + 1\nreturn x", "a, *b = x + 1", "`*` beside a value without a name", "bind the value to a name first"),
    ("a, b, *c = 1, 2\nreturn x", "a, b, *c = 1, 2", "a value with 2 items for 3 names", "give every name an item"),
    ("return map(*x)", "*x", "`*` in a call", "write the arguments out"),
    ("return zip(*x)", "*x", "`*` in a call", "unzip(pairs)"),
    ("return (*x, 1.0)", "*x", "`*`", "write the items out"),
    ("return x[*x]", "*x", "`*`", "write the items out"),
    ("return map(**x)", "x", "`**`", "keyword arguments"),
    ("return x if x[0] > 0 and (y := x[1]) > 0 else x", "y := x[1]", "`:=`", "a line of its own"),
    ("return x if 1.0 in x == True else x", "1.0 in x == True", "`in` in a chain", "`and`"),
    ("return x if 1.0 not in x != True else x", "1.0 not in x != True", "`not in` in a chain", "`and`"),
    ("y = x is None\nreturn x", "x is None", "`is`", "`==`"),
    ("y = x is not None\nreturn x", "x is not None", "`is not`", "`!=`"),
    ("g = lambda *a: a\nreturn x", "a", "`*a`", "take a tuple"),
    ("g = lambda **a: a\nreturn x", "a", "`**a`", "take a record"),
    ("y = b'a'\nreturn x", "b'a'", "a bytes literal", "u8 array"),
    ("y = ...\nreturn x", "...", "`...` outside an index", "write the value"),
    ("match x:\n  case [a, *b]:\n    return x\nreturn x", "*b", "`*` in a pattern", "slices"),
    ("match x:\n  case {1: a}:\n    return x\nreturn x", "{1: a}", "a dictionary pattern", "records"),
    ("y: f64\nreturn x", "y: f64", "an annotation without a value", "give the name a value"),
    ("@at.fn\ndef g(a): return a\nreturn g(x)", "at.fn", "a decorator on an inner function", "remove it"),
    ("print(f'{x[0]:{n}}')\nreturn x", "f'{x[0]:{n}}'", "a computed format", "write the format out"),
    ("é = x\nreturn é + {1}", "{1}", "a set", "array"),
    ("y = (x +\n  {1:\n   2})\nreturn y", "{1:", "a dictionary", "record"),
]


def underlined(text: str) -> str:
    """What the carets of a message stand under."""
    lines = text.splitlines()
    at_line = next(k for k, line in enumerate(lines) if set(line.split("|", 1)[-1].strip()) == {"^"})
    start, end = lines[at_line].index("^"), lines[at_line].rindex("^") + 1
    return lines[at_line - 1][start:end]


@pytest.mark.parametrize(("body", "place", "what", "instead"), REFUSED, ids=[f"{w} {k}" for k, (_, _, w, _) in enumerate(REFUSED)])
def test_refused_by_name(tmp_path, body, place, what, instead):
    text = "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n" + "".join(f"  {line}\n" for line in body.splitlines())
    with pytest.raises(at.ParseError) as caught:
        load(tmp_path, text)
    error = caught.value
    assert isinstance(error, SyntaxError) and error.stage == "surface"
    message = str(error)
    assert message.splitlines()[0] == f"{error.code}: {what} is not part of Atoll"
    assert error.code == "E0101"
    later = sys.version_info >= (3, 12) and what == "a computed format"  # then Python knows places inside f-strings
    assert underlined(message) == (place[2:-1] if later else place)
    assert instead in message.splitlines()[-1] and message.splitlines()[-1].lstrip().startswith("help: ")
    assert "written_" in message and error.span.line > HEAD_LINES + 2


def test_exact_text(tmp_path):
    with pytest.raises(at.ParseError) as caught:
        load(tmp_path, "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    with x as y:\n        return y\n")
    file = caught.value.span.source.name
    assert str(caught.value) == (
        "E0101: `with` is not part of Atoll\n"
        f"  --> {file}:8:5, in f\n"
        "   8 |     with x as y:\n"
        "     |     ^^^^^^^^^^^^\n"
        "   help: an Atoll function has no resources to manage; remove it"
    )


def test_a_tab_is_as_wide_below_as_above(tmp_path):
    with pytest.raises(at.ParseError) as caught:
        load(tmp_path, "@at.fn\ndef f(x: f64[n]):\n\tdel x\n\treturn x\n")
    assert "   8 | \tdel x\n     | \t^^^^^" in str(caught.value)


def test_columns_count_characters(tmp_path):
    with pytest.raises(at.ParseError) as caught:
        load(tmp_path, "@at.fn\ndef f(x: f64[n]):\n    é = x + {1}\n    return é\n")
    assert ":8:13, in f" in str(caught.value)


BODIES = [
    ("x + 1\nreturn x", "E0115", "x + 1"),
    ("y = x", "E0121", "def f(x: f64[n]) -> f64[n]:"),
    ("pass", "E0121", "def f(x: f64[n]) -> f64[n]:"),
    ("'doc'", "E0121", "def f(x: f64[n]) -> f64[n]:"),
    ("return", "E0113", "return"),
    ("s = slice(1)\nreturn x", "E0109", "slice"),
    ("if n > 3:\n  return x", "E0114", "if n > 3:"),
    ("if n > 3:\n  y = x\nreturn y", "E0110", "y"),
    ("for i in range(n):\n  y = x\nreturn y", "E0110", "y"),
    ("return math.gamma_of_nothing(x)", "E0108", "math.gamma_of_nothing"),
    ("y = 1 and n > 2\nreturn x if y else x", "E0208", "1"),
    ("return x if x else x", "E0207", "x"),
    ("x[0] if n > 1 else 3\nreturn x", "E0115", "x[0] if n > 1 else 3"),
]


@pytest.mark.parametrize(("body", "code", "place"), BODIES)
def test_bodies_that_say_nothing(tmp_path, body, code, place):
    text = "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n" + "".join(f"  {line}\n" for line in body.splitlines())
    with pytest.raises(at.Error) as caught:
        load(tmp_path, text)
    assert caught.value.code == code, caught.value
    assert underlined(str(caught.value)) == place
