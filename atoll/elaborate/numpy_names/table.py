"""Name -> the function that elaborates an application of it. The parameters of those functions are NumPy's, by NumPy's names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.numpy_names import (
    algebra,
    create,
    linear,
    places,
    pythons,
    reductions,
    shapes,
    together,
    transforms,
    ufuncs,
)
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.names import STATEMENTS
from atoll.elaborate.numpy_names.refused import check_parameters
from atoll.errors import Span

TABLE: dict[str, Callable[..., Any]] = {
    **reductions.WORDS,
    **ufuncs.WORDS,
    **shapes.WORDS,
    **together.WORDS,
    **create.WORDS,
    **places.WORDS,
    **algebra.WORDS,
    **linear.WORDS,
    **transforms.WORDS,
    **pythons.WORDS,
}

METHODS: dict[str, str] = {
    **{
        name: name
        for name in """sum prod max min mean any all argmax argmin var std cumsum cumprod ravel swapaxes squeeze repeat take
        argsort partition argpartition nonzero searchsorted diagonal trace dot clip round astype copy choose put sort conj conjugate""".split()
    },
    **{name: f".{name}" for name in ("reshape", "flatten", "transpose", "tolist", "view", "item", "fill", "compress", "bit_length", "bit_count")},
}
"""Methods of arrays: the name whose first argument is the array."""


@cache
def _parameters(key: str) -> inspect.Signature:
    return inspect.signature(TABLE[key])


def apply_word(el: Elaborator, word: en.Word, args: tuple[Any, ...], keywords: dict[str, Any], span: Span, alone: bool = False) -> Any:
    """The application of a name with NumPy's meaning; `alone` where it is a statement, as what works in place must be."""
    if "dtype" in keywords and word.key in ufuncs.TYPED:
        args = ufuncs.typed(Call(el, word, span), word.key, args, keywords["dtype"])
        keywords = {key: value for key, value in keywords.items() if key != "dtype"}
    check_parameters(el, word, _parameters(word.key), args, keywords, span)
    if not alone and works_in_place(word):
        el.fail("E0265", span, name=word.name, what="its value, which is None in NumPy,", help=f"write it as a statement of its own: {span.text() or word.name}")
    return TABLE[word.key](Call(el, word, span), *args, **keywords)


def works_in_place(word: en.Word) -> bool:
    """np.put(x, ...), x.sort(): NumPy changes the first argument and gives nothing."""
    return word.key in STATEMENTS or word.name in (".sort", ".fill", ".partition", ".put")
