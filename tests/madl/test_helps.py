"""Helps are right when they are followed. Each row: a wrong program, its code, what the help says, the program with the help followed, which runs everywhere alike."""

from __future__ import annotations

from pathlib import Path

import pytest

import atoll as at
from atoll.errors import Error
from atoll.madl import slips
from atoll.madl.parse import _expected, _parser
from tests.madl.harness import agree, last

SLIPS: dict[str, tuple[str, str, str]] = {
    "index without brackets": (
        "let f (x of [4]f64) returns (y): forward <<4>> i returns (y = [b]): b = 2.0*x.[i]", "[i]",
        "let f (x of [4]f64) returns (y): forward <<4>> [i] returns (y = [b]): b = 2.0*x.[i]",
    ),
    "index without brackets, before an argument": (
        "let f (x of [4]f64) returns (y): forward i ([a] = x) returns (y = [b]): b = 2.0*a", "[i]",
        "let f (x of [4]f64) returns (y): forward [i] ([a] = x) returns (y = [b]): b = 2.0*a",
    ),
    "computed rounds without a name": (
        "let f (k of int) returns (s): forward <<clamp<<5>>(k)>> returns (s = {t}): t init 0 = last t + 1", "rounds = clamp<<5>>(k); then <<rounds>>",
        "let f (k of int) returns (s): rounds = clamp<<5>>(k); forward <<rounds>> returns (s = {t}): t init 0 = last t + 1",
    ),
    "x[2]": ("let f (x of [4]f64) returns (y): y = x[2] + 1.0", "x.[2]", "let f (x of [4]f64) returns (y): y = x.[2] + 1.0"),
    "a slice": (
        "let f (x of [9]int) returns (y): forward ([a] = x.[0:8]) returns (y = {s}): s init 0 += a", "(first of [8]_) ++ rest = x",
        "let f (x of [9]int) returns (y): (first of [8]_) ++ rest = x; forward ([a] = first) returns (y = {s}): s init 0 += a",
    ),
    "the index behind the arguments": (
        "let f (x of [4]f64) returns (y): forward ([a] = x) [i] returns (y = [b]): b = a*f64(i)", "forward [i] (..)",
        "let f (x of [4]f64) returns (y): forward [i] ([a] = x) returns (y = [b]): b = a*f64(i)",
    ),
    "and, compared": ("let f (x of bool, y of int) returns (z): z = x and y > 3", "`&&`", "let f (x of bool, y of int) returns (z): z = x && y > 3"),
    "and, true": ("let f (x of bool) returns (z): z = x and true", "`&&`", "let f (x of bool) returns (z): z = x && true"),
    "and": ("let f (x of bool, y of bool) returns (z): z = x and y", "`&&`", "let f (x of bool, y of bool) returns (z): z = x && y"),
    "or": ("let f (x of bool, y of bool) returns (z): z = x or y", "`||`", "let f (x of bool, y of bool) returns (z): z = x || y"),
    "xor": ("let f (x of int) returns (z): z = x xor 3", "`^`", "let f (x of int) returns (z): z = x ^ 3"),
    "mod": ("let f (x of int) returns (z): z = x mod 3", "`%`", "let f (x of int) returns (z): z = x % 3"),
    ":=": ("let f (x of int) returns (z): z := x + 1", "`=`", "let f (x of int) returns (z): z = x + 1"),
    "#": ("let f (x of int) returns (z): z = x + 1 # more", "`//`", "let f (x of int) returns (z): z = x + 1 // more"),
    "/* */": ("let f (x of int) returns (z):\n  /* more */\n  z = x + 1", "`//`", "let f (x of int) returns (z):\n  // more\n  z = x + 1"),
    "->": ("let f (x of int) -> (z): z = x + 1", "returns (y)", "let f (x of int) returns (z): z = x + 1"),
    ": for of": ("let f (x: int) returns (z): z = x + 1", "x of int", "let f (x of int) returns (z): z = x + 1"),
    "of nothing": ("let f (x of ) returns (z of f64): z = x + 1.0", "of f64", "let f (x of f64) returns (z of f64): z = x + 1.0"),
    "def": ("def f (x of int) returns (z): z = x + 1", "`let`", "let f (x of int) returns (z): z = x + 1"),
    "<<": ("let f (x of int) returns (z): z = x << 3", "shift_left(x, 3)", "let f (x of int) returns (z): z = shift_left(x, 3)"),
    "( ) <<": ("let f (x of int) returns (z): z = (x & 7) << 3", "shift_left(.., 3)", "let f (x of int) returns (z): z = shift_left(x & 7, 3)"),
    ">>": ("let f (x of int) returns (z): z = x >> 3", "shift_right(.., 3)", "let f (x of int) returns (z): z = shift_right(x, 3)"),
    "?": ("let f (x of int) returns (z): z = x > 0 ? 1 : 2", "if c then a else b", "let f (x of int) returns (z): z = if x > 0 then 1 else 2"),
    "1.": ("let f (x of f64) returns (z): z = x * 1.", "1.0", "let f (x of f64) returns (z): z = x * 1.0"),
    ".5": ("let f (x of f64) returns (z): z = x * .5", "0.5", "let f (x of f64) returns (z): z = x * 0.5"),
    "while": (
        "let f (n of int) returns (s): while n > 0: s = n end", "forward <<k>> with k of idx<<n>>",
        "let f (k of idx<<9>>) returns (s): forward <<k>> returns (s = {t}): t init 0 = last t + 2",
    ),
    "return": ("let f (x of int): return x + 1", "y = x + 1", "let f (x of int) returns (y): y = x + 1"),
    "for": ("let f (x of [3]int) returns (y): for i in x: y = i end", "forward [i] ([x] = array)", "let f (array of [3]int) returns (y): forward [i] ([x] = array) returns (y = [z]): z = x*i end"),
    "switch": ("let f (x of int) returns (y of int): switch x: case 1: y = 2 else y = 3 end", "match x: case 1: .. else .. end", "let f (x of int) returns (y of int): match x: case 1: y = 2 else y = 3 end"),
    "++": ("let f (x of bool) returns (n of int): n init 0; n++", "n = last n + 1", "let f (x of bool) returns (n of int): n init 0; n = last n + 1"),
    "a type before": ("let f (x of int) returns (y): int y = x + 1", "y of int", "let f (x of int) returns (y): y of int = x + 1"),
    "**": ("let f (x of f64) returns (y): y = x ** 2", "pow(x, 2.0)", "let f (x of f64) returns (y): y = pow(x, 2.0)"),
    "{ }": (
        "type point = { x of int, y of int }\nlet f (x of int, y of int) returns (p of point): p = { x = 2*x, y = 3*y }", "point(x, y)",
        "type point = { x of int, y of int }\nlet f (x of int, y of int) returns (p of point): p = point(2*x, 3*y)",
    ),
    "a text": ("let f (x of bool) returns (y): y = \"on\"", "type mode = on | off", "type mode = on | off\nlet f (x of bool) returns (y of mode): y = if x then on else off"),
    "elsif": (
        "let f (x of int) returns (z): if x > 0 then z = 1 elsif x < 0 then z = 2 else z = 3 end", "`else if`",
        "let f (x of int) returns (z): if x > 0 then z = 1 else if x < 0 then z = 2 else z = 3 end",
    ),
    "if without else": (
        "let f (x of bool) returns (z of int): if x then z = 1 end", "else .. end", "let f (x of bool) returns (z of int): if x then z = 1 else z = 0 end",
    ),
    "if without end": ("let f (x of bool) returns (z of int): if x then z = 1 else z = 2", "end", "let f (x of bool) returns (z of int): if x then z = 1 else z = 2 end"),
}  # fmt: skip

NAMES: dict[str, tuple[str, str, str, str]] = {
    "a result without brackets": (
        "let f (x of [_]f64) returns (y): forward ([a] = x) returns (y = b): b = 2.0*a", "E0902", "[b] in its returns",
        "let f (x of [_]f64) returns (y): forward ([a] = x) returns (y = [b]): b = 2.0*a",
    ),
    "a state without braces": (
        "let f (x of [_]f64) returns (y): forward ([a] = x) returns (y = b): b init 0.0 = last b + a", "E0902", "{b} is the last one",
        "let f (x of [_]f64) returns (y): forward ([a] = x) returns (y = {b}): b init 0.0 = last b + a",
    ),
    "a misspelt variable": ("let f (level of int) returns (z): z = lvel + 1", "E0902", "level", "let f (level of int) returns (z): z = level + 1"),
    "True": ("let f (x of bool) returns (z): z = x && True", "E0902", "true", "let f (x of bool) returns (z): z = x && true"),
    "a first value of a variable": (
        "let f (x of int) returns (z): k = x + 1; z init k = last z + k", "E0902", "write a number", "let f (x of int) returns (z): k = x + 1; z init 0 = last z + k",
    ),
    "nobody defines it": ("let f (x of int) returns (z): z = x + gain", "E0902", "take it as an argument", "let f (x of int, gain of int) returns (z): z = x + gain"),
    "only one branch defines it": (
        "let f (x of bool) returns (w of int): if x then w = 2 else v = 2 end", "E0902", "define it in every branch: w = ..",
        "let f (x of bool) returns (w of int): if x then w = 2 else w = 3 end",
    ),
    "an index nobody knows": ("let f (x of [4]f64, pos of idx<<4>>) returns (z): z = x.[poss] + 1.0", "E0902", "pos", "let f (x of [4]f64, pos of idx<<4>>) returns (z): z = x.[pos] + 1.0"),
    "a misspelt operator": (
        "let smooth (x of int) returns (y): y = x + 1\nlet f (x of int) returns (z): z = smoth(x)", "E0903", "smooth",
        "let smooth (x of int) returns (y): y = x + 1\nlet f (x of int) returns (z): z = smooth(x)",
    ),
    "a misspelt function": ("let f (x of f64) returns (z): z = sqr(x)", "E0903", "sqrt", "let f (x of f64) returns (z): z = sqrt(x)"),
    "an operator without parentheses": (
        "let c (x of int) returns (n): n init 0 = last n + x\nlet f (x of int) returns (y): y = c + x", "E0902", "c(..)",
        "let c (x of int) returns (n): n init 0 = last n + x\nlet f (x of int) returns (y): y = c(x) + x",
    ),
    "an operator that comes later": (
        "let f (x of int) returns (y of int): y = g + x\nlet g () returns (y of int): y = 1", "E0902", "define it above f",
        "let g () returns (y of int): y = 1\nlet f (x of int) returns (y of int): y = g() + x",
    ),
    "an array with brackets": ("let f () returns (y): y = [1, 2, 3]", "E0909", "[|1, 2, 3|]", "let f () returns (y): y = [|1, 2, 3|]"),
    "an element assigned": (
        "let f (x of [3]int) returns (y of [3]int): y = !x; y.[0] = 5", "E0908", "new = y with [0] = ..", "let f (x of [3]int) returns (new of [3]int): y = !x; new = y with [0] = 5",
    ),
    "a delay without state": ("let f (x of int) returns (y): y = !last x", "E0921", "last (!x init ..)", "let f (x of int) returns (y): y = !last (!x init 0)"),
    "state of an automaton without a first value": (
        "let f (x of bool) returns (y of int): automaton: state a: y = last y + 1; until x then b state b: y = 0; until x then a end", "E0921", "y init ..; before the bodies",
        "let f (x of bool) returns (y of int): y init 0; automaton: state a: y = last y + 1; until x then b state b: y = 0; until x then a end",
    ),
    "a table and a number": ("const t = [|1, 2, 3|]\nlet f (k of int) returns (y of int): y = !t.[k]", "E0918", "clamp<<3>>(k)", "const t = [|1, 2, 3|]\nlet f (k of int) returns (y of int): y = !t.[clamp<<3>>(k)]"),
    "a number that is too large": ("let f (x of u8) returns (y): y = x + 256", "E0929", "u16(..)", "let f (x of u8) returns (y): y = u16(x) + 256"),
    "a number that is negative": ("let f (x of u8) returns (y): y = x + -1", "E0929", "i8(..)", "let f (x of u8) returns (y): y = i8(x) + -1"),
    "a mask that is too large": ("let f (x of i16) returns (y): y = x & 0xFFFF", "E0929", "i32(..)", "let f (x of i16) returns (y): y = i32(x) & 0xFFFF"),
    "a gain above one": ("let f (x of q<<1,15>>) returns (y): y = x*2.0", "E0929", "q<<3,13>>(..)", "let f (x of q<<1,15>>) returns (y): y = q<<3,13>>(x)*2.0"),
    "defined twice": ("let f (x of int) returns (z): z = x + 1; z = x + 2", "E0906", "take one of them away", "let f (x of int) returns (z): z = x + 2"),
    "two operators": (
        "let f (x of int) returns (z): z = x + 1\nlet f (x of int) returns (z): z = x + 2", "E0906", "choose another name",
        "let f (x of int) returns (z): z = x + 1\nlet g (x of int) returns (z): z = x + 2",
    ),
    "a field that is not there": (
        "type p = { x of f64, y of f64 }\nlet f (a of p) returns (b): b = a.z + 1.0", "E0917", "x, y", "type p = { x of f64, y of f64 }\nlet f (a of p) returns (b): b = a.y + 1.0",
    ),
    "a misspelt field": (
        "type p = { x of f64, speed of f64 }\nlet f (a of p) returns (b): b = a.sped + 1.0", "E0917", "speed",
        "type p = { x of f64, speed of f64 }\nlet f (a of p) returns (b): b = a.speed + 1.0",
    ),
    "a copy nobody gets": ("let f (x of f64) returns (z): !x; z = x + 1.0", "E0943", "take it away", "let f (x of f64) returns (z): z = x + 1.0"),
    "an array nobody gets": ("let f (x of f64) returns (z): [3]0.0; z = x + 1.0", "E0943", "name = [3]0.0", "let f (x of f64) returns (z): name = [3]0.0; z = x + name.[1]"),
}  # fmt: skip

COUNTS: dict[str, tuple[str, str, str, str]] = {
    "arguments": (
        "let g (a of f64, c of f64) returns (b): b = a*c\nlet f (a of f64, c of f64) returns (z): z = g(a)", "E0905", "g(a, c)",
        "let g (a of f64, c of f64) returns (b): b = a*c\nlet f (a of f64, c of f64) returns (z): z = g(a, c)",
    ),
    "arguments of a view": (
        "let patt turn (a) returns (b): b = reverse(a)\nlet f (x of [4]f64) returns (z): z = !turn(x, x)", "E0905", "turn(a)",
        "let patt turn (a) returns (b): b = reverse(a)\nlet f (x of [4]f64) returns (z): z = !turn(x)",
    ),
    "arguments of a record": (
        "type p = { x of f64, y of f64 }\nlet f (x of f64, y of f64) returns (b of p): b = p(2.0*x)", "E0905", "p(x, y)",
        "type p = { x of f64, y of f64 }\nlet f (x of f64, y of f64) returns (b of p): b = p(!x, !y)",
    ),
    "arguments of a function": ("let f (a of f64) returns (z): z = sqrt(a, a)", "E0905", "sqrt(a)", "let f (a of f64) returns (z): z = sqrt(a)"),
    "arguments of a rearrangement": ("let f (a of [4]f64) returns (z): z = !reverse(a, a)", "E0905", "reverse(a)", "let f (a of [4]f64) returns (z): z = !reverse(a)"),
    "three for min": ("let f (a of int, b of int, c of int) returns (z): z = min(a, b, c)", "E0905", "min(min(a, b), c)", "let f (a of int, b of int, c of int) returns (z): z = min(min(a, b), c)"),
    "sizes of clamp": ("let f (a of int) returns (z): z = i32(clamp(a))", "E0905", "clamp<<n>>(a)", "let f <<n>> (a of int, x of [n+1]f64) returns (z): z = i32(clamp<<n+1>>(a))"),
    "sizes nobody takes": ("let g (x of int) returns (y): y = x + 1\nlet f (x of int) returns (z): z = g<<3>>(x)", "E0905", "g(..)", "let g (x of int) returns (y): y = x + 1\nlet f (x of int) returns (z): z = g(x)"),
    "sizes of an operator": (
        "let g <<n>> () returns (y of [n]f64): y = [_]1.5\nlet f () returns (z): z = g<<3, 4>>()", "E0905", "g<<n>>(..)",
        "let g <<n>> () returns (y of [n]f64): y = [_]1.5\nlet f () returns (z): z = g<<3>>()",
    ),
    "too few names": (
        "let g (x of int) returns (y, w): y = x + 1; w = x + 2\nlet f (x of int) returns (z): z = g(x)", "E0905", "z, _ = ..",
        "let g (x of int) returns (y, w): y = x + 1; w = x + 2\nlet f (x of int) returns (z): z, _ = g(x)",
    ),
    "too many names": (
        "let g (x of int) returns (y): y = x + 1\nlet f (x of int) returns (z): z, w = g(x)", "E0905", "there is one value",
        "let g (x of int) returns (y): y = x + 1\nlet f (x of int) returns (z): z = g(x)",
    ),
    "a value of several": (
        "let g (x of int) returns (y, w): y = x + 1; w = x + 2\nlet f (x of int) returns (z): z = 1 + g(x)", "E0905", "a, _ = g(x)",
        "let g (x of int) returns (y, w): y = x + 1; w = x + 2\nlet f (x of int) returns (z): a, _ = g(x); z = 1 + a",
    ),
    "a forward's argument": (
        "let f (x of [3]int) returns (y): forward ([x]) returns (y = [b]): b = 2*x", "E0905", "([x] = array)",
        "let f (array of [3]int) returns (y): forward ([x] = array) returns (y = [b]): b = 2*x",
    ),
}  # fmt: skip

TYPES: dict[str, tuple[str, str, str, str]] = {
    "int for float": (
        "let g (a of f64) returns (b): b = a*2.0\nlet f (x of int) returns (z): z = g(x)", "E0910", "f64(x)",
        "let g (a of f64) returns (b): b = a*2.0\nlet f (x of int) returns (z): z = g(f64(x))",
    ),
    "float for int": (
        "let g (a of int) returns (b): b = a*2\nlet f (x of f64) returns (z): z = g(x)", "E0910", "i32(x)",
        "let g (a of int) returns (b): b = a*2\nlet f (x of f64) returns (z): z = g(i32(x))",
    ),
    "an int and a float": ("let f (x of int, y of f64) returns (z): z = x*y", "E0910", "f64(x)", "let f (x of int, y of f64) returns (z): z = f64(x)*y"),
    "widths": ("let f (x of u8, y of u16) returns (z): z = x | y", "E0910", "u16(x)", "let f (x of u8, y of u16) returns (z): z = u16(x) | y"),
    "two formats": (
        "let f (x of q<<8,8>>, y of q<<4,12>>) returns (z): z = x + y", "E0910", "q<<8,8>>(y) or q<<4,12>>(x)",
        "let f (x of q<<8,8>>, y of q<<4,12>>) returns (z): z = x + q<<8,8>>(y)",
    ),
    "the other format": (
        "let f (x of q<<8,8>>, y of q<<4,12>>) returns (z): z = x*y", "E0910", "q<<4,12>>(x)", "let f (x of q<<8,8>>, y of q<<4,12>>) returns (z): z = q<<4,12>>(x)*y",
    ),
    "a format and a float": ("let f (x of q<<8,8>>, y of f64) returns (z): z = x*y", "E0910", "q<<8,8>>(y) or f64(x)", "let f (x of q<<8,8>>, y of f64) returns (z): z = f64(x)*y"),
    "bits of a format": ("let f (x of q<<8,8>>) returns (z): z = x & 3", "E0915", "i32(..)", "let f (x of q<<8,8>>) returns (z): z = i32(x) & 3"),
    "bits of a float": ("let f (x of f64) returns (z): z = x & 3", "E0915", "i32(..)", "let f (x of f64) returns (z): z = i32(x) & 3"),
    "a float function": ("let f (x of int) returns (z): z = sin(x)", "E0915", "f64(..)", "let f (x of int) returns (z): z = sin(f64(x))"),
    "a member and a number": ("type m = a | b\nlet f (x of m) returns (y): y = x + 1", "E0915", "==", "type m = a | b\nlet f (x of m) returns (y): y = x == a"),
    "a member compared with a number": ("type m = a | b\nlet f (x of m) returns (y): y = x == 1", "E0910", "a, b", "type m = a | b\nlet f (x of m) returns (y): y = x == b"),
    "members ordered": (
        "type m = a | b\nlet f (x of m) returns (y): y = x < b", "E0915", "match", "type m = a | b\nlet f (x of m) returns (y of bool): match x: case a: y = true case b: y = false end",
    ),
    "a number as guarantee": ("let f (x of int) returns (z): guarantee x + 1; z = !x", "E0910", "x + 1 != 0", "let f (x of int) returns (z): assume x > 0; guarantee x + 1 != 0; z = !x"),
    "a number as condition": ("let f (x of int) returns (z): z = if x then 1 else 2", "E0910", "x != 0", "let f (x of int) returns (z): z = if x != 0 then 1 else 2"),
    "a number and a bool": ("let f (x of int, y of bool) returns (z): z = y && x", "E0910", "x != 0", "let f (x of int, y of bool) returns (z): z = y && x != 0"),
    "a number for an index": (
        "let g (k of idx<<4>>, x of [4]f64) returns (b): b = x.[k] + 1.0\nlet f (k of int, x of [4]f64) returns (z): z = g(k, x)", "E0910", "clamp<<4>>(k)",
        "let g (k of idx<<4>>, x of [4]f64) returns (b): b = x.[k] + 1.0\nlet f (k of int, x of [4]f64) returns (z): z = g(clamp<<4>>(k), x)",
    ),
    "elements of another type": (
        "let g (x of [4]f64) returns (b): b = x.[0] + 1.0\nlet f (x of [4]int) returns (z): z = g(x)", "E0910", "forward ([a] = x) returns (b = [c]): c = f64(a)",
        "let g (x of [4]f64) returns (b): b = x.[0] + 1.0\nlet f (x of [4]int) returns (z): forward ([a] = x) returns (b = [c]): c = f64(a) end; z = g(b)",
    ),
    "an array for a number": (
        "let g (x of f64) returns (b): b = x + 1.0\nlet f (x of [4]f64) returns (z): z = g(x)", "E0910", "x.[k]",
        "let g (x of f64) returns (b): b = x + 1.0\nlet f (x of [4]f64, k of idx<<4>>) returns (z): z = g(x.[k])",
    ),
    "a match on a float": ("let f (a of f64) returns (b of int): match a: case 1: b = 2 else b = 3 end", "E0910", "i32(a)", "let f (a of f64) returns (b of int): match i32(a): case 1: b = 2 else b = 3 end"),
    "the wrong type in the general case of let rec": (
        "let rec s <<n>> (x of [n]f64) returns (y of f64):\n  if n == 1 then [|a|] = x; y = !a else (l of [n/2]_) ++ h = x; y = s<<n/2>>(l) + i32(s<<n-n/2>>(h)) end", "E0910", "i32(s<<n/2>>(l))",
        "let rec s <<n>> (x of [n]f64) returns (y of f64):\n  if n == 1 then [|a|] = x; y = !a else (l of [n/2]_) ++ h = x; y = s<<n/2>>(l) + s<<n-n/2>>(h) end\nlet f (x of [5]f64) returns (y): y = s<<5>>(x)",
    ),
    "a size that rounds make negative": (
        "let f <<n>> (x of [n]f64) returns (z): forward <<n>> [size k] returns (z = [s]): _ ++ (t of [k-1]_) = x; s = 1.5", "E0913", "forward <<1:high>>",
        "let f <<n>> (x of [n]f64) returns (z): forward <<1:n>> [size k] returns (z = [s]): _ ++ (t of [k-1]_) = x; s = 1.5",
    ),
    "too few elements in a call": (
        "let g <<n>> (a of [n]f64) returns (b): b = a.[3]*2.0\nlet f (x of [2]f64) returns (z): z = g(x)", "E0914", "2 elements more",
        "let g <<n>> (a of [n]f64) returns (b): b = a.[3]*2.0\nlet f (x of [4]f64) returns (z): z = g(x)",
    ),
    "first values in two states": (
        "let f (x of bool) returns (y of int): automaton: state a: y init 0 = last y + 1; until x then b state b: y init 5 = last y - 1; until x then a end", "E0922", "y init 0",
        "let f (x of bool) returns (y of int): y init 0; automaton: state a: y = last y + 1; until x then b state b: y = last y - 1; until x then a end",
    ),
    "a first value in one of two states": (
        "let f (x of bool) returns (y of int): automaton: state a: y init 0 = last y + 1; until x then b state b: y = last y - 1; until x then a end", "E0935", "initialised before them: y init ..",
        "let f (x of bool) returns (y of int): y init 0; automaton: state a: y = last y + 1; until x then b state b: y = last y - 1; until x then a end",
    ),
    "a first value before and in a state": (
        "let f (x of bool) returns (y of int): y init 0; automaton: state a: y = last y + 1; until x then b state b: y init 5 = last y - 1; until x then a end", "E0922", "keep only `y init 0`",
        "let f (x of bool) returns (y of int): y init 0; automaton: state a: y = last y + 1; until x then b state b: y = last y - 1; until x then a end",
    ),
}  # fmt: skip

ALL = {**{k: (w, "E0901", h, m) for k, (w, h, m) in SLIPS.items()}, **NAMES, **COUNTS, **TYPES}


@pytest.mark.parametrize("name", ALL)
def test_told_and_mended(name: str) -> None:
    wrong, code, word, mended = ALL[name]
    with pytest.raises(Error) as caught:
        at.madl(source=wrong)
    assert caught.value.code == code, str(caught.value)
    assert word in caught.value.help, str(caught.value)
    agree(last(mended))


def test_every_slip_has_a_program() -> None:
    told = set()
    for wrong, _, _ in SLIPS.values():
        with pytest.raises(Error) as caught:
            at.madl(source=wrong)
        told.add(caught.value.help.split("{")[0][:20])
    assert not [slip.help for slip in slips.SLIPS if not any(t[:12] in slip.help or slip.help[:12] in t for t in told)]


def test_no_pattern_of_ours_is_shown() -> None:
    """What could have stood somewhere is told in words of the language."""
    for terminal in _parser().terminals:
        if terminal.name in ("WS", "COMMENT"):  # nobody is told to write them
            continue
        shown = _expected([terminal.name])
        assert not any(sign in shown for sign in ("(?", "A-Z", "0-9")), shown


PLACES = {  # the last operator; the text under the caret
    "let g (a of f64) returns (b): b = a*2.0\nlet f (x of int) returns (z): z = g(x)": "x",
    "let g (a of [3]f64) returns (b): b = a.[0]*2.0\nlet f (x of [4]f64) returns (z): z = g(x)": "x",
    "type p = { x of f64, y of f64 }\nlet f (x of f64, k of int) returns (b of p): b = p(!x, k)": "k",
    "let f (x of int, y of f64) returns (b): b = [|x, y|]": "y",
    "let f (x of int) returns (b): b = !reverse(x)": "x",
    "let f (x of int, y of bool) returns (b): b = y || x": "x",
    "let f (x of int) returns (b of f64): b = x": "b",
}


@pytest.mark.parametrize("wrong", PLACES)
def test_the_place_is_where_it_is_used(wrong: str) -> None:
    with pytest.raises(Error) as caught:
        at.madl(source=wrong)
    span = caught.value.span
    line = wrong.splitlines()[-1]
    assert span.line == len(wrong.splitlines()) and span.text() == PLACES[wrong], str(caught.value)
    body = line.index("): ")
    assert span.column > body, str(caught.value)


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.madl").write_text('import "two.py": smoth\nlet f (x of f64) returns (y): y = x + 1.0\n')
    with pytest.raises(Error) as caught:
        at.madl("won.madl")
    assert "one.madl" in caught.value.help
    with pytest.raises(Error) as caught:
        at.madl("one.madl")
    assert str(tmp_path.resolve()) in caught.value.help
    Path("two.py").write_text("import atoll as at\n@at.fn\ndef smooth(x: at.f64) -> at.f64:\n    return x\ndef smoth2():\n    pass\n")
    with pytest.raises(Error) as caught:
        at.madl("one.madl")
    assert "did you mean smooth?" in caught.value.help


def test_what_has_no_c() -> None:
    nd = at.madl(source="let patt turn (a) returns (b): b = reverse(a)\nlet kept <<n>> (x of f64) returns (y of f64): buf init [n]0.0; buf = last buf; y = x\nlet three (x of f64) returns (y): y = kept<<3>>(x)")
    with pytest.raises(Error) as caught:
        nd.c_file(only=["turn"])
    assert caught.value.code == "E0965" and "leave it out of only=" in caught.value.help
    with pytest.raises(Error) as caught:
        str(nd.kept.c(static=True))
    assert caught.value.code == "E0965" and "gives its sizes as numbers" in caught.value.help
    assert "static" in nd.three.c(static=True)


@pytest.mark.parametrize("text", ["let f (x: ) returns (y): y = x", "let f (x of [4]f64) returns (y): y = x[] + 1.0", "let f (x of f64) returns (y): return", "let f (x of f64) returns (y): return ;", "let f (x of f64, z:) returns (y): y = x"])
def test_a_slip_half_written(text):
    """A help speaks of what is written; where that is missing there is another error, and no crash."""
    with pytest.raises(Error, match="E09") as caught:
        at.madl(text)
    assert "{" not in str(caught.value).splitlines()[-1]
