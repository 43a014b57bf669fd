"""Names and parameters of NumPy that have no meaning here, each with what to write instead. Tests run every suggestion."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.numpy_names.names import NAMES
from atoll.elaborate.parameters import arguments
from atoll.errors import Span

PARAMETERS: dict[str, str] = {
    "out": "bind the result to a name instead: y = {name}(...)",
    "order": "leave it out: arrays are in C order",
    "casting": "convert the result instead: f32(...)",
    "subok": "leave it out: there is one kind of array",
    "copy": "leave it out: arrays are values",
    "like": "leave it out: there is one kind of array",
    "kind": "leave it out: sorting is stable",
    "stable": "leave it out: sorting is stable",
    "overwrite_input": "leave it out: arrays are values, and are reused when nobody reads them any more",
    "mode": "leave it out: an index out of range is an error",
    "dtype": "convert the result instead: f32(...)",
    "where": "choose afterwards: np.where(mask, {name}(...), 0.0)",
    "dim": "did you mean axis?",
    "keepdim": "did you mean keepdims?",
    "device": "leave it out; f.on(...) chooses where a function runs",
}
"""Parameters that say nothing here: leaving them out, or what the text says, is the same program."""


INSTEAD: dict[str, tuple[str, str]] = {
    "r_": ("use {}", "np.concatenate((x, y))"),
    "c_": ("use {}", "np.column_stack((x, y))"),
    "row_stack": ("use {}", "np.vstack((x, y))"),
    "in1d": ("use {}", "np.isin(x, y)"),
    "trapz": ("use {}", "np.trapezoid(x)"),
    "product": ("use {}", "np.prod(x)"),
    "mgrid": ("use {}", 'np.meshgrid(x, y, indexing="ij")'),
    "ogrid": ("write {}", "x[:, None] + y[None, :]"),
    "vectorize": ("functions lift by themselves, and {} says it", "map(abs, x)"),
    "ndenumerate": ("write loops, one for each axis: {}", "[[i * j * s[i, j] for j in range(n)] for i in range(n)]"),
    "ndindex": ("write loops, one for each axis: {}", "[[i + j for j in range(m)] for i in range(n)]"),
    "nditer": ("write loops, one for each axis, or {}", "np.ravel(s)"),
    "fromiter": ("write {}", "np.array([v + 1 for v in x])"),
    "apply_over_axes": ("name the axes: {}", "np.sum(s, axis=(0, 1), keepdims=True)"),
    "real_if_close": ("take the part you mean: {}", "np.real(x)"),
    "place": ("write x[mask] = v, or {}", "np.where(x > 0.0, y, x)"),
    "linalg.eig": ("of a symmetric matrix {}; others are computed outside", "np.linalg.eigh(s)"),
    "linalg.eigvals": ("of a symmetric matrix {}; others are computed outside", "np.linalg.eigvalsh(s)"),
    "float16": ("use {}", "np.float32(x)"),
    "isscalar": ("ranks are known: {} is the number of axes", "np.ndim(x)"),
}
"""Names that are refused: a sentence, and the expression it speaks of, which a test runs."""


def instead(key: str, module: Any, name: str) -> str:
    """What to write for a name that has no meaning here."""
    if key in INSTEAD:
        sentence, expression = INSTEAD[key]
        return sentence.format(expression)
    if key.startswith("random"):
        return "use at.random: x = at.random.uniform(key, (n,))"
    prefix = module.__name__.removeprefix("numpy").removeprefix(".")
    close = difflib.get_close_matches(key, sorted(NAMES), 1, 0.75)
    if not hasattr(module, name):
        return f"did you mean np.{close[0]}?" if close else f"numpy{'.' + prefix if prefix else ''} has no {name} either"
    return "compute it outside and pass it in, or write it with loops and comprehensions; docs/for_numpy_users.md lists what there is"


def check_parameters(
    el: Elaborator, word: en.Word, signature: inspect.Signature, args: tuple[Any, ...], keywords: dict[str, Any], span: Span
) -> None:
    """Too many arguments, a missing one, a keyword that is not there."""
    _, *params = signature.parameters.values()
    names = [p.name for p in params]
    variadic = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in params)
    positional = [p for p in params if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if len(args) > len(positional) and not variadic:
        named = [p.name for p in params if p.kind is inspect.Parameter.KEYWORD_ONLY]
        itself = int(word.name.startswith("."))
        takes, given = _counts(positional[itself:]), len(args) - itself
        if named:
            el.fail("E0235", span, name=word.name, expected=takes, found=given, help=f"give {' and '.join(named)} by name, as in {named[0]}=...")
        el.fail("E0235", span, name=word.name, expected=takes, found=given)
    itself = int(word.name.startswith("."))  # of a method: nobody wrote it between the parentheses
    for key in keywords:
        if key not in names:
            close = difflib.get_close_matches(key, names, 1, 0.6)
            help_ = PARAMETERS[key].format(name=word.name) if key in PARAMETERS else f"did you mean {close[0]}?" if close else f"it takes {', '.join(names[itself:])}"
            el.fail("E0236", span, name=word.name, keyword=key, help=help_)
        if key in [p.name for p in positional[: len(args)]]:
            el.fail("E0264", span, name=word.name, keyword=key)
    for p in positional[len(args) :]:
        if p.default is inspect.Parameter.empty and p.name not in keywords:
            el.fail("E0237", span, name=word.name, missing=p.name)


def _counts(positional: list[inspect.Parameter]) -> str:
    return arguments(len([p for p in positional if p.default is inspect.Parameter.empty]), len(positional))
