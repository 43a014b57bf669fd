"""How built-ins are called, for help(), editors and notebooks: `at.scan?` shows its parameters and what it gives."""

from __future__ import annotations

import inspect

from atoll.elaborate.builtins.names import DERIVATIVES, OPERATORS, SCALAR_NARY, SCALAR_UNARY

# name: parameters, what it gives
TEXTS: dict[str, tuple[str, str]] = {
    "map": ("f, *arrays", "f of the elements of one array or of several of one size"),
    "reduce": ("op, ne, xs", "the elements combined by an associative operator with neutral element ne"),
    "scan": ("op, ne, xs, exclusive=False", "the results of reduce for every beginning"),
    "fold": ("f, init, xs", "f(f(f(init, x0), x1), x2) and so on, from left to right"),
    "hist": ("op, ne, k, places, values", "an array of k: the values at each place combined by op"),
    "scatter": ("xs, places, values, op=None, mode='error'", "xs with the values put at places"),
    "gather": ("xs, places", "the elements at places"),
    "filter": ("p, xs", "the elements for which p holds"),
    "sort": ("xs, key=None", "the elements in order, stable, NaN last"),
    "argsort": ("xs", "the places of the elements in order"),
    "argmin": ("xs, axis=None", "the place of the least element, the first of equals"),
    "argmax": ("xs, axis=None", "the place of the greatest element, the first of equals"),
    "zip": ("*arrays", "an array of tuples"),
    "unzip": ("xs", "a tuple of arrays"),
    "iota": ("n", "0, 1, ... n-1"),
    "rep": ("x", "x repeated as often as the rest of the program needs"),
    "full": ("shape, x", "an array with x everywhere"),
    "zeros": ("shape, dtype=None", "an array of zeros, of the type it is used with"),
    "ones": ("shape, dtype=None", "an array of ones, of the type it is used with"),
    "where": ("c, x, y", "x where c holds, else y; both are computed"),
    "pad": ("a, widths, value=0", "a with elements around it"),
    "transpose": ("a, axes=None", "a with its axes in another order"),
    "flatten": ("a", "the first two axes as one"),
    "split": ("a, k", "rows of k elements"),
    "tile": ("a, k", "rows of k elements, the last one filled with zeros"),
    "concat": ("*arrays", "one after the other"),
    "window": ("a, k", "all stretches of k neighbours"),
    "sample": ("a, k", "every k-th element"),
    "reverse": ("a", "the last element first"),
    "rotate": ("a, k", "r[i] = a[(i + k) % n]"),
    "repeat": ("x, n", "n times x"),
    "len": ("a", "the size of the first axis"),
    "range": ("start, stop=None, step=1", "what a loop goes over, as in Python"),
    "sum": ("xs, axis=-1", "the sum along the last axis, or along those given"),
    "prod": ("xs, axis=-1", "the product along the last axis, or along those given"),
    "min": ("xs, axis=-1, default=None, key=None", "the least element; NaN wins; with key, the first whose key is least"),
    "max": ("xs, axis=-1, default=None, key=None", "the greatest element; NaN wins; with key, the first whose key is greatest"),
    "any": ("xs, axis=-1", "whether one holds"),
    "all": ("xs, axis=-1", "whether all hold"),
    "mean": ("xs, axis=-1", "the mean along the last axis, or along those given"),
    "cumsum": ("xs", "sums of every beginning"),
    "cumprod": ("xs", "products of every beginning"),
    "dot": ("a, b", "the product of vectors or matrices"),
    "matmul": ("a, b", "a @ b"),
    "outer": ("a, b", "all products of an element of a and one of b"),
    "copy": ("x", "x in memory of its own"),
    "stop": ("x", "x, counted as a constant by derivatives"),
    "loop": ("n, checkpoint=None, no_false_deps=False", "range(n), with a word to derivatives"),
    "bound": ("n", "in the condition of a while: it ends after n rounds at most"),
    "pow": ("x, y", "x ** y"),
    "clip": ("x, low, high", "x, but no less than low and no more than high"),
    "stack": ("items", "an array of the parts of a tuple"),
}


def described(name: str) -> str:
    """`scan(op, ne, xs, exclusive=False)` and what it gives."""
    params, gives = _text(name)
    return f"{name}({params}): {gives}. A built-in of Atoll, for the bodies of functions; docs/reference.md has an example."


def signature(name: str) -> inspect.Signature:
    """Its parameters, as inspect and editors want them."""
    found = []
    for part in filter(None, (p.strip() for p in _text(name)[0].split(","))):
        word, _, default = part.partition("=")
        kind = inspect.Parameter.VAR_POSITIONAL if word.startswith("*") else inspect.Parameter.POSITIONAL_OR_KEYWORD
        value = {"None": None, "False": False}.get(default, default.strip("'")) if default else inspect.Parameter.empty
        found.append(inspect.Parameter(word.lstrip("*"), kind, default=value))
    return inspect.Signature(found)


def _text(name: str) -> tuple[str, str]:
    if name in TEXTS:
        return TEXTS[name]
    if name in SCALAR_NARY:
        return ", ".join("xyz"[: SCALAR_NARY[name][1]]), f"{SCALAR_NARY[name][0]} of numbers, element by element for arrays"
    if name in OPERATORS:
        return "x, y", f"x {OPERATORS[name]} y"
    if name in SCALAR_UNARY:
        return "x", f"{SCALAR_UNARY[name]} of a number, element by element for arrays"
    return ("f, wrt=0", "a derivative") if name in DERIVATIVES else ("*args", "see the reference")
