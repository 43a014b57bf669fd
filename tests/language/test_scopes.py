"""Names mean what they mean where they are written: globals, sizes, defaults and type variables of lambdas and local functions, wherever
they are called. Each case is a program with its value, or with the code of the error it ends in."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil
from atoll.std.options import Option, Some
from tests.language import scopes_elsewhere as elsewhere
from tests.language.scopes_elsewhere import ap, apv, comp, dflt, gap, mk, mkv, pair, rec, twice

n, m = at.sizes("n m")
a, b = at.types("a b")
SCALE = 1.0
K = 3
V3, V5 = np.ones(3), np.ones(5)
CASES = []


def case(*args, want):
    def keep(f):
        CASES.append(pytest.param(f, args, want, id=f.__name__))
        return f

    return keep


@at.fn
def times_k(x: f64) -> f64:
    return x * K


@at.record
class Held:
    f: at.Fn[[f64], f64]
    k: f64


@at.record
class Stream:
    head: i64
    tail: "at.Fn[[], Stream]"


# -- whose globals and sizes


@case(V5, want=10)
def closure_in_a_tuple(x: f64[n]) -> f64:
    p = (lambda v: v * n, 2.0)
    return ap(p[0], x[0]) * p[1]


@case(3.0, want=305)
def returned_pair(x: f64) -> f64:
    f, g = pair(2.0)
    return f(x) + g(x) * SCALE


@case(3.0, want=106)
def composed(x: f64) -> f64:
    return comp(mk(1.0), lambda v: v * SCALE + K)(x)


@case(V5, want=16)
def given_to_a_recursive_function(x: f64[n]) -> f64:
    return rec(lambda v: v + n * SCALE, x[0], 3)


@case(np.ones(2), want=57)
def nested_in_its_own_argument(x: f64[n]) -> f64:
    return twice(lambda v: twice(lambda w: w + n, v) * K, x[0])


@case(np.array([1.0, 2.0]), want=[12, 24])
def gradient(x: f64[n]) -> f64[n]:
    return grad(lambda z: sum(apv(lambda v: v * v * n * K, z)))(x)


@case(np.ones(2), want=12)
def gradient_in_the_callee(x: f64[n]) -> f64:
    def slope(f, v):
        return grad(f)(v)

    return slope(lambda v: v * v * n * K, x[0])


@case(np.ones(2), V3, want=6)
def forward(x: f64[n], y: f64[m]) -> f64:
    return jvp(lambda z: ap(lambda v: v * n, z) * m, x[0], 1.0)


@case(np.ones(2), want=[14, 14])
def backward(x: f64[n]) -> f64[n]:
    return vjp(lambda z: apv(lambda v: v * n * elsewhere.K, z), x, x)


@case(0.0, want=101)
def default_of_the_other_module(x: f64) -> f64:
    return dflt(x) + dflt(x, SCALE)


@case(np.ones(2), V5, want=12)
def returned_closure_and_its_size(x: f64[n], y: f64[m]) -> f64:
    return mkv(y)(x[0]) + n


@case(V3, want=12)
def made_in_a_loop(x: f64[n]) -> f64:
    s = 0.0
    for i in range(n):
        f = lambda v: v * i + K
        s = s + ap(f, x[i])
    return s


@case(V3, want=[3, 4, 5])
def made_in_a_comprehension(x: f64[n]) -> f64[n]:
    return [ap(lambda v: v * i + n, x[i]) for i in range(n)]


@case(1.0, 1, want=4)
@case(1.0, 0, want=1)
def chosen_by_if(x: f64, k: i64) -> f64:
    if k > 0:
        f = lambda v: v + K
    else:
        f = lambda v: v * SCALE
    return ap(f, x)


@case(1.0, 0, want=4)
@case(1.0, 1, want=2)
@case(1.0, 2, want=3)
@case(1.0, 3, want=101)
def chosen_by_match(x: f64, k: i64) -> f64:
    match k:
        case 0:
            f = lambda v: v + K
        case 1:
            f = lambda v: v * SCALE + x
        case 2:
            f = times_k
        case _:
            y = x * 2.0
            f = comp(mk(1.0), lambda v: v * y - 1.0)
    return ap(f, x)


@case(1.0, 4, want=5)
@case(1.0, -4, want=2)
def chosen_by_a_case(x: f64, k: i64) -> f64:
    o: Option[i64] = Some(k) if k > 0 else None
    match o:
        case Some(_):
            f = lambda w: w * SCALE + 4.0
        case _:
            f = lambda w: w + SCALE
    return ap(f, x)


@case(1.0, want=2)
def local_second_order(x: f64) -> f64:
    call = lambda f, y: f(y)
    return call(lambda y: call(lambda z: z + 1.0, y), x)


@case(V3, want=8)
def closure_in_a_record(x: f64[n]) -> f64:
    r = Held(lambda v: v * n + SCALE, 2.0)
    return ap(r.f, x[0]) * r.k


@case(3, want=3)
def type_variables_of_one_name(x: i64) -> f64:
    g: at.Fn[[f64], f64] = lambda v: v + 1.0
    return gap(lambda q: gap(g, q), 2.0)


@case(np.ones(4), want=[2, 2, 2, 2])
def sizes_in_local_annotations(x: f64[n]) -> f64[n]:
    def g(v: f64[n]) -> f64[n]:
        z: f64[n] = v + 1.0
        return z

    return g(x)


@case(np.ones(4), want=4)
def integer_as_a_size_in_a_local_annotation(x: f64[n]) -> f64:
    k = len(x) // 2

    def g(v: f64) -> f64:
        z: f64[k] = x[:k] * v
        return sum(z)

    return ap(g, 2.0)


@case(np.ones(2), want=[5, 5])
def in_map(x: f64[n]) -> f64[n]:
    return map(lambda v: ap(lambda w: w * K + n, v), x)


@case(np.ones(2), want=12)
def in_fold(x: f64[n]) -> f64:
    return fold(lambda s, v: s + ap(lambda w: w * K + n, v), 0.0, x) + reduce(lambda p, q: p + q, 0.0, x)


@case(np.ones(2), want=94)
def in_while(x: f64[n]) -> f64:
    y = x[0]
    f = lambda v: v * 2.0 + n
    while y < 50.0:
        y = ap(f, y)
    return y


@case(2.0, want=9)
def display_of_functions(x: f64) -> f64:
    fs = [lambda v: v + 1.0, lambda v: v * K]
    s = 0.0
    for i in range(2):
        s += ap(fs[i], x)
    return s


@case(np.ones(7), want=3)
def size_shadowed(x: f64[n]) -> f64:
    n = 3
    return ap(lambda v: v * n, x[0])


@case(3, want=3)
def union_keeps_its_annotation(k: i64) -> i64:
    found: List[i64] = Nil()
    found = Cons(k, Nil())
    match found:
        case Cons(x, _):
            return x
        case Nil():
            return 0


@case(3, want=3)
def annotation_reaches_both_branches(k: i64) -> i64:
    o: Option[Option[i64]] = Some(Some(k)) if k > 0 else (Some(None) if k == 0 else None)
    match o:
        case Some(Some(v)):
            return v
        case _:
            return -1


@case(1, want=3)
def stream(k: i64) -> i64:
    def from_(i: i64) -> Stream:
        return Stream(i, lambda: from_(i + 1))

    return from_(k).tail().tail().head


# -- captured by value: where Python would see another value, an error


@case(3.0, want=5)
def default_is_computed_at_the_def(x: f64) -> f64:
    k = 1.0
    f = lambda v, k=k: v * k
    k = 2.0
    return f(x) + k


@case(1.0, want=2)
def function_name_bound_again(x: f64) -> f64:
    f = times_k
    f = lambda v: v + 1.0
    return ap(f, x)


@case(3.0, want="E0122")
def bound_again_before_it_is_passed(x: f64) -> f64:
    k = 1.0
    f = lambda v: v * k
    k = 2.0
    return ap(f, x)


@case(3.0, want="E0122")
def bound_after_the_lambda(x: f64) -> f64:
    f = lambda v: v * SCALE
    SCALE = 5.0
    return f(x)


@case(3.0, want="E0128")
def read_before_it_is_bound(x: f64) -> f64:
    y = x * SCALE  # noqa: F823  that is the mistake
    SCALE = 5.0
    return y * SCALE


@case(3.0, want="E0122")
def captured_through_another_function(x: f64) -> f64:
    k = 1.0

    def g(z: f64):
        return lambda w: w * k * z

    f = g(2.0)
    k = 2.0
    return f(x)


@case(3.0, want="E0122")
def closure_in_a_record_and_bound_again(x: f64) -> f64:
    k = 1.0
    r = Held(lambda v: v * k, 2.0)
    k = 2.0
    return r.f(x)


@case(3.0, want=12)
def closure_made_again_after_the_change(x: f64) -> f64:
    k = 1.0
    r = Held(lambda v: v * k, 2.0)
    y = r.f(x)
    k = 3.0
    r = Held(lambda v: v * k, 2.0)
    return r.f(x) + y


@case(3.0, want="E0122")
def recursive_local_function(x: f64) -> f64:
    k = 2.0

    def g(v: f64) -> f64:
        return v if v > 10.0 else g(v * k)

    k = 3.0
    return g(x)


@case(1.0, want="E0122")
def captured_function_bound_again(x: f64) -> f64:
    f = lambda v: v + 1.0
    g = lambda v: f(v) * 2.0
    f = lambda v: v + 10.0
    return g(x)


@case(1.0, want="E0120")
def applied_to_itself(x: f64) -> f64:
    w = lambda f: f(f)
    return w(w)


@at.fn
def one_of_two(k: f64) -> at.Fn[[f64], f64]:
    if k < 1.0:
        return lambda v: v * k
    return lambda v: v + k


@case(3.0, want=8)
@case(0.5, want=0.5)
def one_of_two_or_another(x: f64) -> f64:
    if x < 2.5:
        g = one_of_two(x)
    else:
        g = lambda v: v + 7.0
    return g(1.0)


@case(0.5, want=8)
@case(4.0, want=5)
def another_or_one_of_two(x: f64) -> f64:
    g = (lambda v: v + 7.0) if x < 2.5 else one_of_two(x)
    return g(1.0)


@pytest.mark.parametrize(("f", "args", "want"), CASES)
def test_scope(f, args, want):
    if isinstance(want, str):
        with pytest.raises(at.Error) as error:
            at.fn(f).interpret(*args)
        assert error.value.code == want
    else:
        np.testing.assert_array_equal(at.fn(f).interpret(*args), want)


def test_functions_from_python():
    np.testing.assert_array_equal(apv(times_k, np.ones(2)), [3, 3])
    assert twice(times_k, 1.0) == 9 and rec(times_k, 1.0, 2) == 9


def test_gradient_from_python():
    f = at.fn(closure_sum)
    np.testing.assert_array_equal(at.grad(f)(np.array([1.0, 2.0, 3.0])), [18, 36, 0])


def closure_sum(x: f64[n]) -> f64:
    return sum(apv(lambda v: v * v * n * K, x[:2]))
