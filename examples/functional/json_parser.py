"""A JSON parser over bytes: recursive descent from u8[n] to a union, and back to text.

A parser takes the text and a place in it and gives a value and the place after it. What is not JSON gives `Wrong` with its place.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64, u8
from atoll.std.lists import Cons, List, Nil, reverse, to_array
from atoll.std.text import Bytes

n, m = at.sizes("n m")


@at.record
class Null:
    """null"""


@at.record
class Boolean:
    """true and false"""

    value: at.bool_


@at.record
class Number:
    """A number."""

    value: f64


@at.record
class Text:
    """A string, as UTF-8."""

    value: Bytes


@at.record
class Items:
    """[ ... ]"""

    values: List[Json]


@at.record
class Member:
    """A name and a value."""

    name: Bytes
    value: Json


@at.record
class Members:
    """{ ... }"""

    members: List[Member]


@at.record
class Wrong:
    """Not JSON, from this place on."""

    place: i64


Json = Null | Boolean | Number | Text | Items | Members | Wrong


@at.fn
def skip(x: u8[n], i: i64) -> i64:
    """The first place that is not white space."""
    while i < n and (x[i] == 32 or x[i] == 10 or x[i] == 13 or x[i] == 9):
        i = i + 1
    return i


@at.fn
def is_at(x: u8[n], i: i64, byte: u8) -> at.bool_:
    """Whether this byte stands here."""
    return i < n and x[i] == byte


@at.fn
def value(x: u8[n], start: i64) -> (Json, i64):
    """Any value."""
    i = skip(x, start)
    if i >= n:
        return Wrong(i), i
    c = x[i]
    if c == 123:  # {
        j = skip(x, i + 1)
        if is_at(x, j, 125):
            return Members(Nil()), j + 1
        return members(x, j, Nil())
    if c == 91:  # [
        j = skip(x, i + 1)
        if is_at(x, j, 93):
            return Items(Nil()), j + 1
        return items(x, j, Nil())
    if c == 34:  # "
        bytes_, j = text(x, i + 1)
        if j < 0:
            return Wrong(i), i
        return Text(bytes_), j
    if c == 45 or (c >= 48 and c <= 57):
        return number(x, i)
    if word_is(x, i, [116, 114, 117, 101]):
        return Boolean(True), i + 4
    if word_is(x, i, [102, 97, 108, 115, 101]):
        return Boolean(False), i + 5
    if word_is(x, i, [110, 117, 108, 108]):
        return Null(), i + 4
    return Wrong(i), i


@at.fn
def word_is(x: u8[n], i: i64, word: u8[m]) -> at.bool_:
    """Whether this word stands here."""
    count = len(word)
    if i + count > n:
        return False
    same = True
    for k in range(count):
        same = same and x[i + k] == word[k]
    return same


@at.fn
def items(x: u8[n], i: i64, before: List[Json]) -> (Json, i64):
    """The values of a list from here on; `before` has those already read, last first."""
    v, j = value(x, i)
    match v:
        case Wrong(_):
            return v, j
        case _:
            k = skip(x, j)
            if is_at(x, k, 44):
                return items(x, k + 1, Cons(v, before))
            if is_at(x, k, 93):
                return Items(reverse(Cons(v, before))), k + 1
            return Wrong(k), k


@at.fn
def members(x: u8[n], start: i64, before: List[Member]) -> (Json, i64):
    """The members of an object from here on."""
    i = skip(x, start)
    if not is_at(x, i, 34):
        return Wrong(i), i
    name, j = text(x, i + 1)
    if j < 0:
        return Wrong(i), i
    colon = skip(x, j)
    if not is_at(x, colon, 58):
        return Wrong(colon), colon
    v, after = value(x, colon + 1)
    match v:
        case Wrong(_):
            return v, after
        case _:
            k = skip(x, after)
            if is_at(x, k, 44):
                return members(x, k + 1, Cons(Member(name, v), before))
            if is_at(x, k, 125):
                return Members(reverse(Cons(Member(name, v), before))), k + 1
            return Wrong(k), k


@at.fn
def digits(x: u8[n], start: i64, first: f64) -> (f64, i64):
    """The digits from here on, after a number."""
    i = start
    total = first
    while i < n and x[i] >= 48 and x[i] <= 57:
        total = 10.0 * total + f64(i64(x[i]) - 48)
        i = i + 1
    return total, i


@at.fn
def number(x: u8[n], start: i64) -> (Json, i64):
    """-12.5e3: digits as a whole number, then one multiplication or division by a power of ten."""
    i = start + 1 if is_at(x, start, 45) else start
    whole, j = digits(x, i, 0.0)
    if j == i or (is_at(x, i, 48) and j > i + 1):
        return Wrong(i), i
    scale = 0
    if is_at(x, j, 46):
        point = j + 1
        whole, j = digits(x, point, whole)
        if j == point:
            return Wrong(point), point
        scale = point - j
    if is_at(x, j, 101) or is_at(x, j, 69):
        sign = -1 if is_at(x, j + 1, 45) else 1
        first = j + 2 if is_at(x, j + 1, 45) or is_at(x, j + 1, 43) else j + 1
        power, j = digits(x, first, 0.0)
        if j == first or power > 400.0:
            return Wrong(first), first
        scale = scale + sign * i64(power)
    size = ten_to(abs(scale))
    exact = whole * size if scale >= 0 else whole / size
    return Number(-exact if is_at(x, start, 45) else exact), j


@at.fn
def ten_to(k: i64) -> f64:
    """10 ** k"""
    return 1.0 if k <= 0 else 10.0 * ten_to(k - 1)


@at.fn
def text(x: u8[n], start: i64) -> (Bytes, i64):
    """The string that begins here, and the place after its end; -1 when it has none."""
    end = start
    plain = True
    open_ = True
    while open_ and end < n:
        if x[end] == 34 or x[end] < 32:
            open_ = False
        elif x[end] == 92:
            plain = False
            end = end + 2
        else:
            end = end + 1
    if end >= n or x[end] != 34:
        return Bytes(x[:0]), -1
    if plain:
        return Bytes(x[start:end]), end + 1
    bytes_, fine = unescape(x, start, end)
    return bytes_, end + 1 if fine else -1


@at.fn
def unescape(x: u8[n], start: i64, end: i64) -> (Bytes, at.bool_):
    """A string with escapes taken out."""
    out: List[u8] = Nil()
    i = start
    fine = True
    while i < end:
        c = x[i]
        if c != 92:
            out = Cons(c, out)
            i = i + 1
        elif x[i + 1] == 117:
            code = hexadecimal(x, i + 2)
            i = i + 6
            if code >= 55296 and code < 56320 and is_at(x, i, 92) and is_at(x, i + 1, 117):
                code = 65536 + (code - 55296) * 1024 + (hexadecimal(x, i + 2) - 56320)
                i = i + 6
            fine = fine and code >= 0
            out = utf8(maximum(code, 0), out)
        else:
            made = escaped(x[i + 1])
            fine = fine and made != 0
            out = Cons(made, out)
            i = i + 2
    return Bytes(to_array(reverse(out))), fine


@at.fn
def escaped(c: u8) -> u8:
    """What a letter after a backslash stands for; 0 when nothing."""
    match c:
        case 34 | 92 | 47:
            return c
        case 98:
            return 8
        case 102:
            return 12
        case 110:
            return 10
        case 114:
            return 13
        case 116:
            return 9
        case _:
            return 0


@at.fn
def hexadecimal(x: u8[n], i: i64) -> i64:
    """Four hexadecimal digits; negative when they are not."""
    total = 0
    for k in range(4):
        c = i64(x[i + k]) if i + k < n else 0
        digit = c - 48 if c >= 48 and c <= 57 else c - 55 if c >= 65 and c <= 70 else c - 87 if c >= 97 and c <= 102 else -1000000
        total = 16 * total + digit
    return total


@at.fn
def utf8(code: i64, out: List[u8]) -> List[u8]:
    """The bytes of a character before `out`, last first."""
    if code < 128:
        return Cons(u8(code), out)
    last = u8(128 + code % 64)
    if code < 2048:
        return Cons(last, Cons(u8(192 + code // 64), out))
    middle = u8(128 + code // 64 % 64)
    if code < 65536:
        return Cons(last, Cons(middle, Cons(u8(224 + code // 4096), out)))
    return Cons(last, Cons(middle, Cons(u8(128 + code // 4096 % 64), Cons(u8(240 + code // 262144), out))))


@at.fn
def parse(x: u8[n]) -> Json:
    """A whole text."""
    v, i = value(x, 0)
    match v:
        case Wrong(_):
            return v
        case _:
            end = skip(x, i)
            return v if end == n else Wrong(end)


@at.fn
def total(v: Json) -> f64:
    """The sum of all numbers in a value."""
    match v:
        case Number(x):
            return x
        case Items(values):
            return total_items(values)
        case Members(fields):
            return total_members(fields)
        case _:
            return 0.0


@at.fn
def total_items(values: List[Json]) -> f64:
    """Over a list."""
    match values:
        case Nil():
            return 0.0
        case Cons(v, rest):
            return total(v) + total_items(rest)


@at.fn
def total_members(fields: List[Member]) -> f64:
    """Over the members of an object."""
    match fields:
        case Nil():
            return 0.0
        case Cons(m, rest):
            return total(m.value) + total_members(rest)


@at.fn
def sum_of_text(x: u8[n]) -> f64:
    """The sum of all numbers in a text."""
    return total(parse(x))


def bytes_of(text: str) -> Any:
    return np.frombuffer(text.encode(), np.uint8)


def python(v: Any) -> Any:
    """A value as json.loads gives it."""
    match v:
        case Null():
            return None
        case Boolean(value):
            return bool(value)
        case Number(value):
            return float(value)
        case Text(value):
            return bytes(value.data).decode("utf-8", "surrogatepass")
        case Items(values):
            return [python(item) for item in values]
        case Members(members):
            return {bytes(m.name.data).decode(): python(m.value) for m in members}
        case Wrong(place):
            return ("wrong", int(place))


RIGHT = (
    "null",
    " [1, 2.5, -3e2, 0.125, 1E-3] ",
    '{"a": {"b": [true, false, null]}, "": "x", "c": []}',
    r'"a\"b\\c\/\b\f\n\r\tend"',
    r'"\u00e9\u20ac\ud83d\ude00 é€😀"',
    "[[[[[]]]], {}]",
    "-0",
    '{"a": 1, "a": 2}',
)
BROKEN = ("", "[1, 2", '{"a" 1}', "[1,]", "nul", '"abc', "01", "1 2", "{1: 2}", r'"\q"', '"a\nb"', "-", "1.", "[1 2]")


def check() -> list[Any]:
    """Pairs of what Atoll and Python say."""
    pairs: list[Any] = [(python(parse(bytes_of(t))), json.loads(t, parse_int=float)) for t in RIGHT]
    for t in BROKEN:
        try:
            json.loads(t)
            fails = False
        except ValueError:
            fails = True
        pairs.append((isinstance(parse(bytes_of(t)), Wrong), fails))
    big = json.dumps([{"id": k, "values": [k / 8, -k], "name": f"n{k}"} for k in range(200)])
    pairs.append((sum_of_text(bytes_of(big)), sum(k / 8 for k in range(200))))
    return pairs


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs, (ours, theirs)
    print(python(parse(bytes_of('{"numbers": [1, 2, 3], "name": "atoll"}'))))


if __name__ == "__main__":
    main()
