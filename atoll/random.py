"""at.random: random numbers as values. A key and a shape give an array, always the same one; new numbers need a new key.

    key = at.random.key(0)
    first, second = at.random.split(key, 2)
    x = at.random.normal(first, (1000, 3))

The functions below are for Python and mean the same inside bodies (elaborate/builtins/random.py). Both call an Atoll function whose elements are those of std/random.py: one for
each distribution, number of axes, and which parameters are arrays. A parameter that is an array varies along the last axes of the result; without a shape, the result has its shape.
What is drawn by rejection (std/rejection.py) is drawn in passes from Python, the same numbers sooner (`in_passes`).
Results depend on the key, the shape and the parameters only: not on threads, pieces, machines or targets.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from atoll.errors import fail
from atoll.errors.caller import caller
from atoll.errors.misuse import kind_of
from atoll.errors.plain import plain
from atoll.making import fn

if TYPE_CHECKING:
    from atoll.function import Function

Shape = int | Sequence[int] | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """A function of std/random.py or std/rejection.py of a key, a place and parameters. `params` have a default, or None where they must be given."""

    name: str
    params: tuple[tuple[str, float | None], ...]
    result: str = "f64"
    takes: str = "f64"
    single: str = ""  # the element of an f32 array, where it is not the f64 rounded
    gammas: tuple[str, ...] = ()  # shapes of the gamma numbers it is made of
    element: str = ""  # the function of std/random.py (`rej.` of std/rejection.py), where it is not called the same

    def shapes(self, given: Sequence[str]) -> list[str]:
        return [text.format(*given) for text in self.gammas]


_OF_PLACE = (("loc", 0.0), ("scale", 1.0))
DISTRIBUTIONS: dict[str, Distribution] = {
    d.name: d
    for d in (
        Distribution("uniform", (("low", 0.0), ("high", 1.0)), single="uniform_single"),
        Distribution("normal", _OF_PLACE),
        Distribution("lognormal", _OF_PLACE),
        Distribution("laplace", _OF_PLACE),
        Distribution("logistic", _OF_PLACE),
        Distribution("gumbel", _OF_PLACE),
        Distribution("cauchy", _OF_PLACE),
        Distribution("exponential", (("scale", 1.0),)),
        Distribution("rayleigh", (("scale", 1.0),)),
        Distribution("weibull", (("a", None),)),
        Distribution("gamma", (("a", None), ("scale", 1.0)), gammas=("{0}",)),
        Distribution("chisquare", (("df", None),), gammas=("0.5 * {0}",)),
        Distribution("beta", (("a", None), ("b", None)), gammas=("{0}", "{1}")),
        Distribution("student_t", (("df", None),), gammas=("0.5 * {0}",)),
        Distribution("bernoulli", (("p", 0.5),), "bool_"),
        Distribution("geometric", (("p", None),), "i64"),
        Distribution("poisson", (("lam", None),), "i64", element="rej.poisson"),
        Distribution("integers", (("low", None), ("high", None)), "i64", "i64", element="integer_any"),
    )
}
NAMES = ("key", "split", "fold_in", "permutation", "choice", "categorical", *DISTRIBUTIONS)


# -- the functions in Atoll


@functools.cache
def drawn(name: str, axes: int, ranks: tuple[int, ...], dtype: str = "f64", variant: str = "") -> Function:
    """`def normal(key, n0, n1, loc, scale)`, an array over n0 and n1; `ranks` are those of the parameters.

    `variant` is another element that gives the same bits sooner for parameters known to be in a range."""
    d = DISTRIBUTIONS[name]
    sizes = [f"n{k}" for k in range(axes)]
    given = [p + (_index(axes - rank, axes) if rank else "") for (p, _), rank in zip(d.params, ranks, strict=True)]
    result = d.result if d.result != "f64" else dtype
    lines: list[str] = []
    stored: list[str] = []  # made first, in vectors, in a loop of their own
    if name == "integers":
        each = f"all({given[1]} > {given[0]}{_loops(sizes, max(ranks))})"
        lines = [f'assert {each}, "integers: high must be above low"' if any(ranks) else 'assert high > low, f"integers: there is none from {low} below {high}"']
    one = _call(variant or d.element or name, axes, given)
    if d.gammas:
        made = []
        for k, shape in enumerate(d.shapes(given)):
            rank = ranks[k]
            lines += [_key_line(k), _positive(shape, _loops(sizes, rank) if rank else "")]
            lines += [f"g{k} = {_array(f'rej.gamma_try(key{k}, {_place(axes)}, {shape}, u32(0))', sizes)}"]
            got = f"g{k}{_index(0, axes)}"
            made.append(f"({got} if {got} >= 0.0 else rej.gamma_again(key{k}, {_place(axes)}, {shape}, u32(1)))")
            stored.append(f"g{k}")
        lines += [_key_line(1)] if name == "student_t" else []
        one = _of_gammas(d, made, _place(axes), given, small=True)
    if name == "geometric":
        lines, one, stored = [f"trials = {_array(one, sizes)}"], f"i64(trials{_index(0, axes)})", ["trials"]
    if result == "f32":
        single = _call(d.single, axes, []) if d.single else ""
        one = f"f32({given[0]}) + (f32({given[1]}) - f32({given[0]})) * {single}" if single else f"f32({one})"
    return _made(name, _head(d, sizes, ranks), f"{result}{_over(sizes, axes)}", [*lines, f"return {_array(one, sizes)}"], stored if axes else [])


@functools.cache
def in_passes(name: str, ranks: tuple[int, ...], dtype: str, kinds: tuple[str, ...]) -> Function:
    """The same over one axis for what is drawn by rejection: every pass, but the last, makes one try in vectors for the elements that are left.

    `kinds` says for each gamma number that shapes are all 1, all "large", from 1, or may be "small"."""
    d = DISTRIBUTIONS[name]
    given = [p + ("[i0]" if rank else "") for (p, _), rank in zip(d.params, ranks, strict=True)]
    result = d.result if d.result != "f64" else dtype
    lines: list[str] = []
    for k, (shape, kind) in enumerate(zip(d.shapes(given) or given, kinds, strict=True)):
        what = "gamma" if d.gammas else name
        lines += [_key_line(k)]
        if kind == "one":
            lines += [f"g{k} = [rej.gamma_one(key{k}, i0) for i0 in range(n0)]"]
            continue
        if d.gammas:
            lines += [_positive(shape, " for i0 in range(n0)" if ranks[k] else "")]
        lines += [f"g{k} = [rej.{what}_quick(key{k}, i0, {shape}) for i0 in range(n0)]", f"left = [i0 for i0 in range(n0) if g{k}[i0] < 0.0]"]
        for draw, tries in enumerate(("try", "try", "again")):
            there = shape.replace("[i0]", "[left[j]]")
            lines += [f"tried = [rej.{what}_{tries}(key{k}, left[j], {there}, u32({draw})) for j in range(len(left))]"]
            lines += ["for j in range(len(left)):", f"    g{k}[left[j]] = tried[j]"]
            lines += ["left = [left[j] for j in range(len(left)) if tried[j] < 0.0]"] if tries == "try" else []
    made = [f"g{k}[i0]" for k in range(len(kinds))]
    lines += [_key_line(1)] if name == "student_t" else []
    small = "small" in kinds
    if small and name != "beta":
        lines += [f"g0 = [rej.gamma_small(key0, i0, {d.shapes(given)[0]}, g0[i0]) for i0 in range(n0)]"]
    one = _of_gammas(d, made, "i0", given, small and name == "beta") if d.gammas else f"{result}({made[0]})"
    one = f"f32({one})" if result == "f32" else one
    return _made(name, _head(d, ["n0"], ranks), f"{result}[n0]", [*lines, f"return [{one} for i0 in range(n0)]"])


def _head(d: Distribution, sizes: list[str], ranks: tuple[int, ...]) -> list[str]:
    return ["key: u64", *(f"{n}: i64" for n in sizes), *(f"{p}: {d.takes}{_over(sizes, rank)}" for (p, _), rank in zip(d.params, ranks, strict=True))]


def _key_line(k: int) -> str:
    return f"key{k} = std.fold_in(key, {k})" if k else "key0 = key"


def _positive(shape: str, loops: str) -> str:
    if loops:
        return f'assert all({shape} > 0.0{loops}), "gamma: a shape is not above 0"'
    return f'assert {shape} > 0.0, f"gamma: the shape is {{{shape}}}, not above 0"'


def _of_gammas(d: Distribution, made: list[str], place: str, given: list[str], small: bool) -> str:
    """An element, of gamma numbers that are those of a shape greater by 1 where the shape is below 1 (`small` says that there may be such)."""
    shapes = d.shapes(given)
    if d.name == "beta":
        more = [f"rej.log_part(key{k}, {place}, {shape})" for k, shape in enumerate(shapes)]
        return f"rej.beta_small({', '.join([*made, f'{more[1]} - {more[0]}', *given])})" if small else f"rej.beta({', '.join([*made, *given])})"
    parts = [f"rej.gamma_small(key0, {place}, {shapes[0]}, {made[0]})" if small else made[0]]
    if d.name == "student_t":
        parts.insert(0, f"std.normal(key1, {place}, 0.0, 1.0)")
    return f"rej.{d.name}({', '.join([*parts, *given])})"


def _index(low: int, high: int) -> str:
    return f"[{', '.join(f'i{k}' for k in range(low, high))}]" if high > low else ""


@functools.cache
def helper(name: str, axes: int = 1, rank: int = 0, extra: str = "") -> Function:
    """The functions that are no distribution of numbers."""
    sizes = [f"n{k}" for k in range(axes)]
    params = [f"{n}: i64" for n in sizes]
    over = _over(sizes, axes)
    if name == "split":
        return _made(name, ["key: u64", *params], f"u64{over}", [f"return {_array(_call('split_at', axes, []), sizes)}"])
    if name == "categorical":
        inner = f"std.gumbel(key, ({_place(axes)}) * m + j, 0.0, 1.0)"
        logits = f"logits[{', '.join([*(f'i{k}' for k in range(axes - rank, axes)), 'j'])}]"
        one = f"i64(argmax([{logits} + {inner} for j in range(m)]))"
        kept = _over([*sizes[axes - rank :], "m"], rank + 1)
        return _made(name, ["key: u64", *params, f"logits: f64{kept}"], f"i64{over}", [f"return {_array(one, sizes)}"])
    assert name == "weighted"
    body = ["total = sum(p)", 'assert total > 0.0 and all(p >= 0.0), "choice: p must be at least 0 and not all 0"', "sums = cumsum(p)"]
    body.append(f"units = {_array(f'std.unit(key, {_place(axes)}, u32(0))', sizes)}")
    one = f"std.found_at(sums, sums[m - 1] * units{_index(0, axes)})"
    return _made("choice", ["key: u64", *params, "p: f64[m]"], f"i64{over}", [*body, f"return {_array(one, sizes)}"], ["units"] if axes else [])


def _made(name: str, params: list[str], result: str, body: list[str], stored: Sequence[str] = ()) -> Function:
    head = "from __future__ import annotations\nimport atoll as at\nfrom atoll import bool_, f32, f64, i64, u32, u64\nm = at.sizes('m')\n"
    head += "from atoll.std import random as std, rejection as rej\n"
    text = f"{head}def {name}({', '.join(params)}) -> {result}:\n" + "".join(f"    {line}\n" for line in body)
    made = fn(source=text)
    return made.with_plan(**dict.fromkeys(stored, "store")) if stored else made


def _over(sizes: list[str], rank: int) -> str:
    return f"[{', '.join(sizes[len(sizes) - rank :])}]" if rank else ""


def _place(axes: int) -> str:
    """The place of an element in row-major order."""
    text = "0" if not axes else "i0"
    for k in range(1, axes):
        text = f"({text} * n{k} + i{k})"
    return text


def _call(element: str, axes: int, given: list[str]) -> str:
    return f"{element if '.' in element else f'std.{element}'}({', '.join(['key', _place(axes), *given])})"


def _array(one: str, sizes: list[str]) -> str:
    for k in reversed(range(len(sizes))):
        one = f"[{one} for i{k} in range({sizes[k]})]"
    return one


def _loops(sizes: list[str], rank: int) -> str:
    axes = len(sizes)
    return "".join(f" for i{k} in range({sizes[k]})" for k in range(axes - rank, axes))


# -- from Python


@plain
def key(seed: int) -> Any:
    """The key of a seed: any integer of up to 64 bits."""
    number = _integer("key", "the seed", seed)
    if not -(2**63) <= number < 2**64:
        _wrong("key", "a seed has at most 64 bits", "take it modulo 2**64")
    return np.uint64(number % 2**64)


@plain
def split(key: Any, n: Shape = 2) -> Any:
    """Keys made of a key: an array of n of them, or of a shape."""
    sizes = _shape("split", n)
    return helper("split", len(sizes))(_key("split", key), *sizes)


@plain
def fold_in(key: Any, data: int) -> Any:
    """A key made of a key and a number."""
    from atoll.std.random import fold_in as made

    return made(_key("fold_in", key), _integer("fold_in", "the data", data))


@plain
def permutation(key: Any, x: Any) -> Any:
    """0..x-1 in a random order, or the rows of an array in one."""
    from atoll.std.random import shuffled

    if isinstance(x, np.ndarray) and x.ndim:
        return x[shuffled(_key("permutation", key), len(x))]
    return shuffled(_key("permutation", key), _integer("permutation", "the number", x))


@plain
def choice(key: Any, a: Any, shape: Shape = (), replace: bool = True, p: Any = None) -> Any:
    """Elements of an array (or of 0..a-1), with or without putting them back, with probabilities p or all alike."""
    from atoll.std.random import few, shuffled_until

    rows = a if isinstance(a, np.ndarray) and a.ndim else None
    count = len(rows) if rows is not None else _integer("choice", "the number", a)
    sizes = _shape("choice", shape)
    used = _key("choice", key)
    if not replace:
        if p is not None or len(sizes) > 1:
            _wrong("choice", "without replacement there are one axis and no p", "choose places with at.random.permutation")
        if (sizes[0] if sizes else 1) > count:
            _wrong("choice", f"{sizes[0]} different elements are wanted of {count}", "choose with replace=True")
        wanted = sizes[0] if sizes else 1
        found = few(used, count, wanted) if wanted**2 <= count else shuffled_until(used, count, wanted)[..., :wanted]
        found = found if sizes else found[..., 0]
    elif p is not None:
        weights = _numbers("choice", "p", p)
        if weights.shape != (count,):
            _wrong("choice", f"p has the shape {weights.shape}, and there are {count} elements", "give one probability for each element")
        found = helper("weighted", len(sizes))(used, *sizes, weights)
    else:
        found = drawn("integers", len(sizes), (0, 0), variant=_variant("integers", [0, count]))(used, *sizes, 0, count)
    return found if rows is None else rows[found]


@plain
def categorical(key: Any, logits: Any, shape: Shape = None) -> Any:
    """Places along the last axis of logits, each as often as the exponential of what stands there says."""
    given = _numbers("categorical", "logits", logits)
    if not given.ndim:
        _wrong("categorical", "logits is an array, with one number for each category", "write at.random.categorical(key, np.log(p))")
    sizes = _shape("categorical", given.shape[:-1] if shape is None else shape)
    if tuple(sizes[len(sizes) - given.ndim + 1 :]) != given.shape[:-1] or len(sizes) < given.ndim - 1:
        _wrong("categorical", f"the shape {tuple(sizes)} does not end in {given.shape[:-1]}, the leading axes of logits", "leave the shape out")
    return helper("categorical", len(sizes), given.ndim - 1)(_key("categorical", key), *sizes, given)


def _distribution(name: str) -> Callable[..., Any]:
    d = DISTRIBUTIONS[name]
    names = [p for p, _ in d.params]

    def draw(key: Any, shape: Shape = None, *given: Any, dtype: Any = None, **keywords: Any) -> Any:
        if len(given) > len(names):
            _wrong(name, f"takes a key, a shape and {', '.join(names)}", f"write at.random.{name}(key, shape{''.join(', ' + p for p in names)})")
        values = dict(zip(names, given, strict=False))
        for word, value in keywords.items():
            if word not in names or word in values:
                _wrong(name, f"{word} is {'given twice' if word in values else 'no parameter'}", f"it takes a key, a shape (NumPy's size) and {', '.join(names)}")
            values[word] = value
        params = [_parameter(d, p, values.get(p, default)) for p, default in d.params]
        ranks = tuple(np.ndim(p) for p in params)
        widest = max(params, key=np.ndim)
        sizes = _shape(name, np.shape(widest) if shape is None else shape)
        for p, value in zip(names, params, strict=True):
            if np.ndim(value) > len(sizes):
                _wrong(name, f"{p} has {np.ndim(value)} axes, and the shape has {len(sizes)}", "a parameter varies along the last axes of the result")
        made = _dtype(d, dtype)
        used = _key(name, key)
        if sizes and math.prod(sizes) < 2**63 and (kinds := _kinds(d, params)):
            flat = [p if not np.ndim(p) else np.ascontiguousarray(np.broadcast_to(p, sizes)).reshape(-1) for p in params]
            found = in_passes(name, tuple(min(rank, 1) for rank in ranks), made, kinds)(used, math.prod(sizes), *flat)
            return found.reshape((*found.shape[:-1], *sizes))
        return drawn(name, len(sizes), ranks, made, _variant(name, params))(used, *sizes, *params)

    defaults = ", ".join(p if default is None else f"{p}={default}" for p, default in d.params)
    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f"at.random.{name}(key, shape, {defaults}): one number, or an array of the shape."
    return plain(draw)


def _variant(name: str, params: list[Any]) -> str:
    """An element that gives the same bits sooner, for these parameters."""
    if name == "integers" and all(0 < int(high) - int(low) <= 2**32 for low, high in np.broadcast(*params)):
        return "integer"
    return "rej.poisson_small" if name == "poisson" and np.all((params[0] >= 0) & (params[0] < 10)) else ""


def _kinds(d: Distribution, params: list[Any]) -> tuple[str, ...]:
    """What is known of the parameters of numbers that can be drawn in passes; nothing where they cannot."""
    if d.name == "poisson":
        return ("large",) if np.all((params[0] >= 10) & (params[0] < 1e15)) else ()
    one = 1.0 if "{0}" in d.gammas else 2.0
    return tuple("one" if np.all(p == one) else "large" if np.all(p >= one) else "small" for p in params[: len(d.gammas)])


def _numbers(name: str, what: str, value: Any) -> Any:
    try:
        return np.ascontiguousarray(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        _wrong(name, f"{what} is an array of numbers, not {kind_of(value)}", f"convert {what} first")


def _parameter(d: Distribution, name: str, value: Any) -> Any:
    if value is None:
        _wrong(d.name, f"{name} is missing", f"write at.random.{d.name}(key, shape, {name}=...)")
    try:
        numbers = np.asarray(value)
    except (TypeError, ValueError):
        _wrong(d.name, f"{name} is a number or an array of them, not {kind_of(value)}", f"convert {name} first")
    if numbers.dtype.kind not in ("iu" if d.takes == "i64" else "iuf"):
        _wrong(d.name, f"{name} is {'an integer' if d.takes == 'i64' else 'a number'} or an array of them, not {kind_of(value)}", f"convert {name} first")
    return np.asarray(numbers, np.int64 if d.takes == "i64" else np.float64, order="C")[() if numbers.ndim == 0 else ...]


def _dtype(d: Distribution, dtype: Any) -> str:
    if dtype is None:
        return "f64"
    known = {"f32": "f32", "float32": "f32", "f64": "f64", "float64": "f64"}.get(getattr(dtype, "__name__", None) or str(dtype))
    if known is None or d.result != "f64":
        _wrong(d.name, f"gives {d.result}" if d.result != "f64" else "gives f64 or f32", "leave dtype out" if d.result != "f64" else "write dtype=at.f32")
    return known


def _key(name: str, value: Any) -> Any:
    """A key, or an array of keys, for each of which the function is called."""
    if isinstance(value, (np.uint64, np.ndarray)) and value.dtype == np.uint64:
        return value
    _wrong(name, f"takes a key first, not {kind_of(value)}", f"make one of a seed: at.random.{name}(at.random.key(0), ...)")


def _shape(name: str, shape: Any) -> list[int]:
    found = [_integer(name, "a size", n) for n in (shape if isinstance(shape, (tuple, list)) else [shape])]
    for n in found:
        if n < 0:
            _wrong(name, f"a size is 0 or more, not {n}", "give the shape as an integer or a tuple of them")
    return found


def _integer(name: str, what: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        _wrong(name, f"{what} is an integer, not {kind_of(value)}", f"convert it: int({what.split()[-1]})")


def _wrong(name: str, text: str, help_: str) -> NoReturn:
    fail("E0610", caller(), name=f"at.random.{name}", text=text, help=help_)


uniform = _distribution("uniform")
normal = _distribution("normal")
lognormal = _distribution("lognormal")
laplace = _distribution("laplace")
logistic = _distribution("logistic")
gumbel = _distribution("gumbel")
cauchy = _distribution("cauchy")
exponential = _distribution("exponential")
rayleigh = _distribution("rayleigh")
weibull = _distribution("weibull")
gamma = _distribution("gamma")
chisquare = _distribution("chisquare")
beta = _distribution("beta")
student_t = _distribution("student_t")
bernoulli = _distribution("bernoulli")
geometric = _distribution("geometric")
poisson = _distribution("poisson")
integers = _distribution("integers")

__all__ = [*sorted(NAMES)]


def __dir__() -> list[str]:
    return __all__
