"""Programs a user would write: recursion, unions, closures, functions chosen at run time. Compiled code equals the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64, u8
from atoll.std import lists, maps, trees
from atoll.std.lists import Cons, List, Nil, fold_left, length, map_list, of_array, sort_by
from atoll.std.maps import Empty, Map
from atoll.std.options import Option, Some
from atoll.std.text import Bytes, split
from atoll.std.trees import Leaf, Tree

n = at.sizes("n")
a = at.types("a")


def same(f: Any, *args: Any) -> Any:
    """The value, compiled and interpreted."""
    found = f(*args)
    again = f.interpret(*args)
    assert type(found) is type(again)
    assert np.array_equal(found, again) if isinstance(found, np.ndarray) else repr(found) == repr(again)
    return found


# -- recursion


@at.fn
def gcd(x: i64, y: i64) -> i64:
    return x if y == 0 else gcd(y, x % y)


@at.fn
def halves(x: f64[n]) -> f64:
    if n == 0:
        return 0.0
    if n == 1:
        return x[0]
    return halves(x[: n // 2]) + halves(x[n // 2 :])


@at.fn
def merge_sort(x: i64[n]) -> i64[n]:
    """Recursion over arrays of sizes that only the call knows."""
    if n <= 1:
        return x
    left, right = merge_sort(x[: n // 2]), merge_sort(x[n // 2 :])
    out = x
    i, j = 0, 0
    for k in range(n):
        from_left = j >= n - n // 2 or (i < n // 2 and left[i] <= right[j])
        if from_left:
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@at.fn
def local(k: i64, b: i64) -> i64:
    def go(i: i64, acc: i64) -> i64:
        return acc if i == 0 else back(i, acc * b)

    def back(i: i64, acc: i64) -> i64:
        return go(i - 1, acc + i)

    return go(k, 0)


@at.fn
def hanoi(k: i64, start: i64, end: i64) -> List[(i64, i64)]:
    def move(k: i64, start: i64, end: i64, after: List[(i64, i64)]) -> List[(i64, i64)]:
        if k == 0:
            return after
        third = 3 - start - end
        return move(k - 1, start, third, Cons((start, end), move(k - 1, third, end, after)))

    return move(k, start, end, Nil())


@at.fn
def total_of_matrix(x: f64[n, 3], k: i64) -> f64:
    """Array code inside a recursion is a kernel of its own."""
    return 0.0 if k == 0 else sum(sum(row * row) for row in x) + total_of_matrix(0.5 * x, k - 1)


def test_recursion() -> None:
    assert same(gcd, 84, 36) == 12
    assert same(halves, np.arange(7.0)) == 21.0
    assert list(same(merge_sort, np.array([5, 3, 9, 1, 1, 8, 0]))) == [0, 1, 1, 3, 5, 8, 9]
    assert same(local, 5, 3) == 547
    assert same(hanoi, 2, 0, 2) == [(0, 1), (0, 2), (1, 2)]
    x = np.arange(6.0).reshape(2, 3)
    assert same(total_of_matrix, x, 2) == (x * x).sum() * 1.25


# -- unions and match


@at.record
class Circle:
    r: f64


@at.record
class Box:
    w: f64
    h: f64


@at.record
class Group:
    shapes: List[Shape]
    name: Option[i64]


Shape = Circle | Box | Group


@at.fn
def area(s: Shape) -> f64:
    match s:
        case Circle(r):
            return 3.0 * r * r
        case Box(w, h) if w == h:
            return w * w
        case Box(w, h):
            return w * h
        case Group(shapes, _):
            return fold_left(lambda acc, x: acc + area(x), 0.0, shapes)


@at.fn
def named(s: Shape, k: i64) -> Shape:
    match s:
        case Group(shapes, None):
            return Group(map_list(lambda x: named(x, k + 1), shapes), Some(k))
        case Group(shapes=shapes, name=Some(old)) if old < k:
            return Group(shapes, Some(old + 100))
        case other:
            return other


@at.fn
def words(xs: List[i64]) -> i64:
    match xs:
        case Nil():
            return 0
        case Cons(x, Nil()):
            return x
        case Cons(x, Cons(y, _)) if x > y:
            return x - y
        case Cons(0 | 1, Cons(y, _)):
            return 100 + y
        case Cons(_, _) as whole:
            return length(whole)


def test_unions() -> None:
    picture = Group([Circle(1.0), Box(2.0, 3.0), Group([Box(2.0, 2.0)], 7)], None)
    assert same(area, picture) == 13.0
    made = same(named, picture, 3)
    assert made.name == 3 and isinstance(made.shapes[1], Box) and made.shapes[2].name == 7
    assert same(named, Group([], 1), 3).name == 101
    for xs, want in (([], 0), ([4], 4), ([5, 2, 1], 3), ([0, 7], 107), ([3, 7, 8], 3)):
        assert same(words, xs) == want


def test_what_python_passes_is_checked() -> None:
    with pytest.raises(at.TypeError, match=r"area: argument s must be Shape, not a int"):
        area(3)
    with pytest.raises(at.TypeError, match=r"argument s.w must be f64, not a text"):
        area(Box("wide", 1.0))
    with pytest.raises(at.TypeError, match=r"words: argument xs\[1\] is 2.5, which does not fit i64"):
        words([1, 2.5])


# -- library types


@at.fn
def squares(xs: List[i64], wanted: i64) -> (Option[i64], i64, List[i64]):
    m: Map[i64, i64] = Empty()
    m = fold_left(lambda acc, x: maps.put(acc, x, x * x), m, xs)
    return maps.get(m, wanted), maps.size(m), maps.keys_onto(m, Nil())


@at.fn
def tree_sort(xs: List[f64]) -> (List[f64], i64):
    t: Tree[f64] = Leaf()
    t = fold_left(lambda t, x: trees.insert(lambda p, q: p < q, t, x), t, xs)
    return trees.onto_list(t, Nil()), trees.depth(t)


@at.fn
def sorted_pairs(xs: List[(i64, f64)]) -> List[(i64, f64)]:
    return sort_by(lambda p, q: p[1] < q[1], xs)


@at.fn
def pieces(x: u8[n]) -> List[Bytes]:
    return split(x, u8(44))


@at.fn
def pairs(xs: List[a]) -> List[(a, a)]:
    match xs:
        case Cons(x, Cons(y, r)):
            return Cons((x, y), pairs(r))
        case _:
            return Nil()


@at.fn
def pairs_of_both(xs: List[i64], ys: List[f64]) -> (List[(i64, i64)], List[(f64, f64)]):
    return pairs(xs), pairs(ys)


def test_library() -> None:
    assert same(squares, [5, 1, 4, 1], 4) == (16, 3, [1, 4, 5])
    assert same(squares, [5], 4)[0] is None
    assert same(tree_sort, [2.0, 1.0, 3.0, 2.0]) == ([1.0, 2.0, 3.0], 2)
    assert same(sorted_pairs, [(1, 3.0), (2, 1.0), (3, 2.0)]) == [(2, 1.0), (3, 2.0), (1, 3.0)]
    assert [bytes(p.data) for p in pieces(np.frombuffer(b"ab,c,,def", np.uint8))] == [b"ab", b"c", b"", b"def"]
    assert same(pairs_of_both, [1, 2, 3], [1.0, 2.0]) == ([(1, 2)], [(1.0, 2.0)])


def test_maps_hold_what_was_put() -> None:
    r = np.random.default_rng(3)
    xs = [int(x) for x in r.integers(0, 50, 200)]
    got, size, keys = squares(xs, xs[0])
    assert keys == sorted(set(xs)) and size == len(keys) and got == xs[0] ** 2


# -- functions as values


@at.record
class Counter:
    step: at.Fn[[i64], i64]
    at_: i64


@at.fn
def counter(by: i64) -> Counter:
    return Counter(lambda x: x + by, by)


@at.fn
def use_counters(c: at.bool_, x: i64) -> i64:
    one, other = counter(2), counter(x)
    chosen = one if c else other
    return chosen.step(chosen.at_) + one.step(1)


@at.fn
def compose_all(fs: List[at.Fn[[i64], i64]]) -> at.Fn[[i64], i64]:
    match fs:
        case Nil():
            return lambda x: x
        case Cons(f, rest):
            others = compose_all(rest)
            return lambda x: f(others(x))


@at.fn
def composed(x: i64, k: i64) -> i64:
    fs: List[at.Fn[[i64], i64]] = Cons(lambda y: y + k, Cons(lambda y: 2 * y, Nil()))
    for j in range(k):
        fs = Cons(lambda y, j=j: y + j, fs)
    return compose_all(fs)(x)


@at.fn
def table(i: i64, xs: f64[n]) -> f64[n]:
    fs = [lambda y: y + 1.0, lambda y: y * 2.0, sqrt]
    return map(fs[i], xs)


@at.fn
def church(k: i64, x: i64) -> i64:
    def power(f: at.Fn[[i64], i64], k: i64) -> at.Fn[[i64], i64]:
        if k == 0:
            return lambda y: y
        before = power(f, k - 1)
        return lambda y: f(before(y))

    return power(lambda y: 3 * y + 1, k)(x)


@at.fn
def stored(x: f64[n], c: at.bool_) -> f64[n]:
    """A function chosen at run time, used in array code."""
    f = (lambda y: y * y) if c else (lambda y: -y)
    g = (lambda y: f(y) + 1.0) if c else f
    return [g(v) for v in x]


@at.fn
def array_of_closures(x: i64[n]) -> i64[n]:
    fs = [adder(v) for v in x]
    return [fs[n - 1 - i](x[i]) for i in range(n)]


@at.fn
def adder(k: i64) -> at.Fn[[i64], i64]:
    return lambda y: 10 * y + k


@at.fn
def continued(k: i64, then: at.Fn[[i64], i64]) -> i64:
    """Another function in every round: it is not a copy of the last one."""
    return then(0) if k == 0 else continued(k - 1, lambda x: then(x + k))


@at.fn
def summed(k: i64) -> i64:
    return continued(k, lambda x: x)


def test_continuations() -> None:
    assert same(summed, 10) == 55
    assert summed(100_000) == 5000050000


def test_function_values() -> None:
    assert same(use_counters, True, 5) == 4 + 3
    assert same(use_counters, False, 5) == 10 + 3
    assert same(composed, 7, 3) == 2 * 7 + 3 + 0 + 1 + 2
    x = np.array([1.0, 4.0])
    assert [list(same(table, i, x)) for i in range(3)] == [[2.0, 5.0], [2.0, 8.0], [1.0, 2.0]]
    assert same(church, 3, 1) == 40
    assert list(same(stored, x, True)) == [2.0, 17.0] and list(same(stored, x, False)) == [-1.0, -4.0]
    assert list(same(array_of_closures, np.array([1, 2, 3]))) == [13, 22, 31]


def test_an_index_out_of_a_table_of_functions() -> None:
    with pytest.raises(IndexError, match="index 3 is out of range for size 3"):
        table(3, np.ones(2))


# -- data in array code


@at.fn
def lists_in_arrays(x: i64[n]) -> (i64[n], i64):
    rows = [of_array(x[: i + 1]) for i in range(n)]
    sums = [fold_left(lambda p, q: p + q, 0, r) for r in rows]
    return sums, reduce(lambda p, q: gcd(p, q), 0, sums)


@at.fn
def scanned(x: i64[n]) -> i64[n]:
    return scan(lambda p, q: gcd(p, q), 0, x)


@at.fn
def find(xs: List[i64], wanted: i64) -> Option[i64]:
    rest, at_, found = xs, 0, False
    more = True
    while more:
        match rest:
            case Cons(x, r) if x != wanted:
                rest = r
                at_ += 1
            case Cons(_, _):
                found = True
                more = False
            case Nil():
                more = False
    return Some(at_) if found else None


def test_data_and_arrays() -> None:
    sums, g = same(lists_in_arrays, np.array([4, 2, 6]))
    assert list(sums) == [4, 6, 12] and g == 2
    assert list(same(scanned, np.array([12, 18, 4]))) == [12, 6, 2]
    assert same(find, [4, 5, 6], 6) == 2 and same(find, [4], 6) is None


# -- errors while running


@at.fn
def divided(xs: List[i64], k: i64) -> List[i64]:
    return lists.map_list(lambda x: x // k, xs)


@at.fn
def reading(x: i64[n], k: i64) -> i64:
    return 0 if k < 0 else x[k] + reading(x, k - 1)


@at.fn
def counted(k: i64) -> i64:
    assert k >= 0, f"k is {k}"
    return 0 if k == 0 else 1 + counted(k - 3)


def test_errors_while_running() -> None:
    assert divided([4, 5], 2) == [2, 2]
    with pytest.raises(ZeroDivisionError, match=r"lambda x: x // k"):
        divided([4, 5], 0)
    with pytest.raises(IndexError, match="index 7 is out of range for size 5"):
        reading(np.arange(5), 7)
    with pytest.raises(AssertionError, match="k is -2"):
        counted(7)
    assert counted(6) == 2


@at.fn
def loud(k: i64) -> i64:
    print("at", k)
    return 0 if k == 0 else 1 + loud(k - 1)


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    assert loud(2) == 2
    assert capsys.readouterr().out == "at 2\nat 1\nat 0\n"
