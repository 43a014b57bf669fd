"""Programs as users write them from docs/madl.md: right ones with what they give, wrong ones with what they are told. Compiled code and oracle agree."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.madl.api import Module


def steps(operator: Any, inputs: list[tuple[Any, ...]], **sizes: int) -> list[Any]:
    """Results of a node cycle by cycle; the oracle must give the same."""
    found = []
    for interpret in (False, True):
        instance = operator.instance(sizes, interpret)
        found.append([np.asarray(instance.step(*args)).tolist() for args in inputs])
    assert found[0] == found[1]
    return found[0]


def once(operator: Any, *args: Any, **sizes: int) -> Any:
    """The results of one call, by code and by the oracle."""
    first, second = operator(*args, **sizes), operator.interpret(*args, **sizes)
    if isinstance(first, tuple):
        assert all(np.array_equal(a, b) for a, b in zip(first, second))
        return tuple(np.asarray(v).tolist() for v in first)
    assert np.array_equal(first, second)
    return np.asarray(first).tolist()


def one(values: list[Any]) -> list[tuple[Any, ...]]:
    return [(v,) for v in values]


RIGHT: dict[str, tuple[str, Callable[[Any], Any], Any]] = {
    "moving average": (
        """
let mean <<k>> (x of f64) returns (y of f64):
  line init [k]0.0 = rest ++ [|!x|];
  [|oldest|] ++ kept = last line;
  forward ([a] = kept) returns (rest = [b]): b = !a end
  sum init 0.0 = last sum + x - oldest;
  y = sum / f64(k)
""",
        lambda nd: steps(nd.mean, one([4.0, 8.0, 0.0, 4.0]), k=2),
        [2.0, 6.0, 4.0, 2.0],
    ),
    "three-point stencil": (
        """
let blur (u of [_]f64) returns (v):
  [|a|] ++ _ = u; _ ++ [|b|] = u;
  forward ([w] = window<<3>>(u)) returns (m = [x]): [|l, c, r|] = w; x = (l + c + r)/3.0 end
  v = [|!a|] ++ m ++ [|!b|]
""",
        lambda nd: once(nd.blur, np.array([3.0, 6.0, 0.0, 3.0])),
        [3.0, 3.0, 3.0, 3.0],
    ),
    "relaxation in place, using what is new": (
        """
let relax (u of [_]f64 at 'l) returns (v at 'l):
  [|a|] ++ inner ++ [|b|] = u;
  _ ++ right = u; right of [_]f64;
  forward ([c] = inner) ([r] = right) returns (all = [|a|] ++ [x] as _ ++ [|p|]): x = p + c + r end
  v = all ++ [|b|]
""",
        lambda nd: once(nd.relax, np.array([1.0, 1.0, 1.0, 1.0])),
        [1.0, 3.0, 5.0, 1.0],
    ),
    "ring buffer": (
        """
let ring <<n>> (x of f64) returns (oldest of f64):
  buf init [n]0.0; head init 0;
  k = wrap<<n>>(last head);
  oldest = !(last buf).[k];
  buf = last buf with [k] = !x;
  head = (last head + 1) % n
""",
        lambda nd: steps(nd.ring, one([1.0, 2.0, 3.0, 4.0, 5.0]), n=3),
        [0.0, 0.0, 0.0, 1.0, 2.0],
    ),
    "debounce": (
        """
let debounce (raw of bool) returns (out of bool):
  count init 0 = if raw == last out then 0 else last count + 1;
  out init false = if count >= 2 then raw else last out
""",
        lambda nd: steps(nd.debounce, one([True, False, True, True, False, False])),
        [False, False, False, True, False, False],
    ),
    "adaptive filter": (
        """
let lms <<n>> (x of [n]f64, wanted of f64, mu of f64) returns (e of f64):
  w init [n]0.0;
  forward ([a] = last w) ([b] = x) returns (y = {s}): s init 0.0 += a*b end
  e = wanted - y;
  forward ([a] = last w) ([b] = x) returns (w = [c]): c = a + mu*e*b end
""",
        lambda nd: steps(nd.lms, [(np.array([1.0, 0.5]), 2.0, 0.5)] * 3),
        [2.0, 0.75, 0.28125],
    ),
    "game of life": (
        """
let life (g of [_][_]u8) returns (h):
  forward ([rows] = window<<3>>(g)), ([cols] = window<<3>>(transpose(rows))) returns (h = [[c]]):
    forward, ([[p]] = cols) returns (sum = {{s}}): s init 0 = last s + int(p) end
    centre = cols.[1].[1];
    c of u8 = if sum == 3 || (sum == 4 && centre == 1) then 1 else 0
""",
        lambda nd: once(nd.life, np.pad(np.ones((3, 1), "u1"), ((1, 1), (2, 2)))),
        [[0, 0, 0], [1, 1, 1], [0, 0, 0]],
    ),
    "a node in a branch runs when the branch does": (
        """
let count () returns (n): n = !last p; p init 0 = last p + 1
let gated (on of bool) returns (n of int): n init -1; if on then n = count() else n = last n end
""",
        lambda nd: steps(nd.gated, one([True, False, True, True, False])),
        [0, 0, 1, 2, 2],
    ),
    "reset of one of two instances": (
        """
let count () returns (n): n = !last p; p init 0 = last p + 1
let twice (c of bool) returns (s of int): a = count(); block returns (b = x): x = count() reset c; s = 10*a + b
""",
        lambda nd: steps(nd.twice, one([False, False, True, False])),
        [0, 11, 20, 31],
    ),
    "a pass of bubble sort, in place": (
        """
let bubble (v of [_]int at 'l) returns (w at 'l):
  [|first|] ++ rest = v;
  forward ([x] = rest) returns (lows = [y]) (top = {m}): m init !first = max(last m, x); y = min(last m, x) end
  w = lows ++ [|!top|]
""",
        lambda nd: once(nd.bubble, np.array([3, 1, 2, 9, 4], "int32")),
        [1, 2, 3, 4, 9],
    ),
    "polynomial by Horner": (
        "let horner (c of [_]f64, x of f64) returns (y): forward ([a] = reverse(c)) returns (y = {s}): s init 0.0 = last s * x + a",
        lambda nd: once(nd.horner, np.array([1.0, 2.0, 3.0]), 2.0),
        17.0,
    ),
    "cyclic redundancy check": (
        """
let crc32 (bytes of [_]u8) returns (c of u32):
  forward ([b] = bytes) returns (r = {state}):
    state init 4294967295 = shifted;
    mixed = bit_xor(last state, u32(b));
    forward <<8>> returns (shifted = {s}):
      s init !mixed = bit_xor(shift_right(last s, 1), if bit_and(last s, 1) == 1 then 3988292384 else 0)
    end
  end
  c = bit_not(r)
""",
        lambda nd: once(nd.crc32, np.frombuffer(b"123456789", "u1")),
        zlib.crc32(b"123456789"),
    ),
    "outer product, stored by columns": (
        "let outer (a of [_]f64, b of [_]f64) returns (m): forward ([x] = a), ([y] = b) returns (m = transpose([[z]])): z = x*y",
        lambda nd: once(nd.outer, np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0])),
        [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]],
    ),
    "records in an array, one field changed": (
        """
type body = { pos of f64, vel of f64 }
let move (b of [_]body at 'l, dt of f64) returns (c at 'l):
  forward ([x] = b) returns (c = [y]): y = x with .pos = x.pos + dt*x.vel
""",
        lambda nd: np.asarray(nd.move((np.array([0.0, 1.0]), np.array([2.0, 4.0])), 0.5)[0]).tolist(),
        [1.0, 3.0],
    ),
    "a table that never changes": (
        "let lookup (k of int) returns (y): table init [|10, 20, 30|] = last table; i = wrap<<3>>(k); y = !(last table).[i]",
        lambda nd: (steps(nd.lookup, one([0, 4, -1])), nd.lookup.c().count("static const int32_t lookup_table[3] = {10, 20, 30};"), len(nd.lookup.copies())),
        ([10, 20, 30], 1, 1),
    ),
    "two filters from one line": (
        """
let diff (x of f64) returns (d): d = x - last (!x init 0.0)
let second (x of f64) returns (d): d = diff(diff(x))
""",
        lambda nd: steps(nd.second, one([1.0, 3.0, 6.0, 10.0])),
        [1.0, 1.0, 1.0, 1.0],
    ),
    "sums of rows and columns in one pass": (
        """
let sums (m of [_][_]f64) returns (r, c):
  forward ([row] = m) returns (r = [x]) (c = {t} init [_]0.0):
    forward ([a] = row) returns (x = {s}): s init 0.0 += a end
    forward ([a] = row) ([o] = last t) returns (t = [n]): n = o + a end
""",
        lambda nd: once(nd.sums, np.array([[1.0, 2.0], [3.0, 4.0]])),
        ([3.0, 7.0], [4.0, 6.0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    source, run, wanted = RIGHT[name]
    module: Module = at.madl(source=source)
    assert run(module) == wanted


WRONG: dict[str, tuple[str, str, list[str]]] = {
    "stencil in place": (
        """
let blur (u of [_]f64 at 'l) returns (v at 'l):
  [|a|] ++ _ = u; _ ++ [|b|] = u;
  forward ([w] = window<<3>>(u)) returns (m = [x]): [|l, c, r|] = w; x = (l + c + r)/3.0 end
  v = [|a|] ++ m ++ [|b|]
""",
        "E0935", ["round i reads window<<3>>(u) at u[i]", "an earlier round may have overwritten it"],
    ),
    "an element that is not copied": (
        "let gate (on of bool, x of [_]f64) returns (y of [_]f64): y init [_]0.0; if on then forward ([a] = x) returns (y = [b]): b = a end else y = last y end",
        "E0930", ["a is x[i] (line 1), and also y[i] (line 1)", "copy: !a"],
    ),
    "int and float": ("let f (x of i32, y of f64) returns (z): z = x + y", "E0910", ["type f64", "type int", "convert one side"]),
    "an unknown type": ("let f (x of integer) returns (y): y = x", "E0904", ["Undefined type integer", "types are int, float, bool, i8"]),
    "a word as a name": ("let f (end of int) returns (y): y = end", "E0901", ["`end` is a word of the language"]),
    "a missing parenthesis": ("let f (x returns (y): y = x", "E0901", ["'returns' cannot stand here", "`)`"]),
    "nothing after the colon's equals": ("let f (x of int) returns (y): y =", "E0901", ["the file ends too early"]),
    "a strange character": ("let f (x of int) returns (y): y = x ? 1", "E0901", ["this character has no meaning here"]),
    "defined twice": ("let f (x of int) returns (y): y = x; y = x + 1", "E0906", ["y is defined twice"]),
    "two arguments with one name": ("let f (x of int, x of int) returns (y): y = x", "E0906", ["x is defined twice"]),
    "two operators with one name": ("let f (x of int) returns (y): y = x\nlet f (x of int) returns (y): y = x", "E0906", ["f is defined twice"]),
    "used before it is defined": ("let g (x of int) returns (y): y = f(x)\nlet f (x of int) returns (y): y = x", "E0903", ["Undefined operator f"]),
    "too many arguments": ("let f (x of int) returns (y): y = min(x, 1, 2)", "E0905", ["min: 3 arguments where 2 are expected"]),
    "defined in one branch": ("let f (c of bool, x of int) returns (y): if c then y = x + 1 else z = x end", "E0902", ["not defined in every branch of the if in line 1"]),
    "a condition that is a number": ("let f (x of int) returns (y): y = if x then 1 else 2", "E0910", ["an expression of type bool was expected"]),
    "a reset that is a number": ("let f (x of int) returns (y): block returns (y = s): s init 0 = last s + 1 reset x", "E0910", ["type bool was expected"]),
    "an index that may be too large": ("let f (a of [4]int) returns (y): y = !a.[4]", "E0918", ["index 4 of a is not proved to lie in 0..3"]),
    "an index that is any number": ("let f (a of [4]int, k of int) returns (y): y = !a.[k]", "E0918", ["k is a number of type int", "clamp<<4>>(k)"]),
    "a field that is not there": ("type p = { x of f64 }\nlet f (a of p) returns (y): y = !a.z", "E0917", ["z is no field of p"]),
    "last without init": ("let f (x of int) returns (y): y = last x", "E0921", ["x has no initial value", "last (!x init ..)"]),
    "a size that is negative": ("let f (x of [2]int) returns (y): a ++ b = x; a of [5]_; y = !b", "E0914", ["b has size -3"]),
    "a number too large": ("let f (x of u8) returns (y): y = x + 300", "E0929", ["300 does not fit u8"]),
    "a number below zero": ("let f (x of u8) returns (y): y = x + -1", "E0929", ["-1 does not fit u8"]),
    "recursion without end": ("let rec f <<n>> (x of [n]int) returns (y of int): y = f<<n>>(x)\nlet g (x of [3]int) returns (y): y = f<<3>>(x)", "E0951", ["it needs <<1>> to make <<1>>"]),
    "recursion that grows": ("let rec f <<n>> (x of [n]int) returns (y of int): y = f<<n+1>>(x)\nlet g (x of [3]int) returns (y): y = f<<3>>(x)", "E0951", ["its sizes grew 64 times"]),
    "recursion without a size": ("let rec f (x of int) returns (y): y = f(x)", "E0951", ["f does not end"]),
    "recursion at a size that is not a number": ("let rec f <<n>> (x of [n]int) returns (y of int): y = 1\nlet g <<n>> (x of [n]int) returns (y): y = f<<n>>(x)", "E0950", ["must be a number"]),
    "state at a place that moves": (
        "let f (a of [_]f64 at 'l) returns (b at 'l): forward ([x] = a) returns (b = [y] as p): y = x + t; forward ([z] = p) returns (t = {w}): w init 0.0 = z end",
        "E0923", ["a place that moves from round to round"],
    ),
    "a shared old value": (
        "let f (x of int) returns (y): a init 0 = x + last b; b init 0 = x + last a; y = a + last b",
        "E0940", ["no order of execution works"],
    ),
    "a first index that nothing decides": ("let f (x of [4]int) returns (y): forward <<'m:>> [i] ([a] = x) returns (y = [b]): b = a + i", "E0912", ["the first index of this loop is ?"]),
    "an index that nothing decides": ("let f (x of [4]int) returns (y): y = !x.['k]", "E0912", ["the index of x is ?"]),
    "an argument that shows a cell twice": ("let f (a at repeat<<_>>(_)) returns (s of int): forward ([x] = a) returns (s = {t}): t init 0 += x", "E0931", ["the caller writes a"]),
    "an argument that is a window": ("let f (window<<2>>(b) of [_][_]int) returns (c): c = !b", "E0931", ["the caller writes window<<2>>(b)"]),
    "two arguments at one place": ("let f (a of [3]int at 'l, b of [3]int at 'l) returns (c): c = !a", "E0941", ["the arguments a and b share memory"]),
    "an init that sees the inside": ("let f (x of int) returns (n): n init x = last n + 1", "E0902", ["Undefined variable x"]),
    "sizes that differ": ("let f (a of [3]int, b of [4]int) returns (c): forward ([x] = a) ([y] = b) returns (c = [z]): z = x + y", "E0910", ["[4]int", "[3]int"]),
    "aggregation outside a forward": ("let f (x of int) returns (a): a = [x]", "E0909", ["stands outside the interface of a forward"]),
    "a matrix with too few levels": ("let f (m of [3][3]int) returns (s): forward ([[x]] = m) returns (s = {t}): t init 0 += x", "E0907", ["Too many iteration levels"]),
    "a called operator that writes where it reads": (
        "let add (u of [_]f64, v) returns (w): forward ([a] = u) ([b] = v) returns (w = [c]): c = a + b\n"
        "let f (x of [_]f64 at 'l, y of [_]f64) returns (z at 'l): z = add(x, y)",
        "E0934", ["add writes w and also uses u"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    source, code, words = WRONG[name]
    with pytest.raises(at.Error) as caught:
        at.madl(source=source)
    text = str(caught.value)
    assert caught.value.code == code, text
    for word in words:
        assert word in text, text
    assert "<madl>:" in text and "^" in text, "a place in the user's text"


def test_every_error_code_of_madl_has_a_story() -> None:
    from atoll.errors.madl_codes import ROWS

    for code, _, title, _, story in ROWS:
        assert title and len(story) > 20, code
