"""Copies that loops make again and again: f.memory() lists them with "round", their bytes and line; a CopyWarning says what to change, and copies="explicit" refuses.
What is said is right: with at.copy written there is no warning, and with the old value read before it is changed there is no copy."""

import warnings

import pytest

import atoll as at

HEAD = 'import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes("n m")\n@at.fn(copies="{copies}")\ndef f(a: at.own[f64[n]], b: at.own[f64[n]], k: i64):\n'

COPIED = {  # the program, the line of its body that copies, and a text that says the copy is meant
    "kept each round": ("best = at.copy(a)\nfor i in range(n):\n    a[i] = a[i] + 1.0\n    best = a\n    a[0] = 3.0\nreturn a, best", 2, ("best = a\n", "best = at.copy(a)\n")),
    "kept if better": ("best = at.copy(a)\nfor i in range(n):\n    a[i] = a[i] + 1.0\n    if a[i] > b[i]:\n        best = a\nreturn a, best", 4, ("best = a\n", "best = at.copy(a)\n")),
    "two from one": ("for i in range(n):\n    a[i] += 1.0\n    b = a\n    b[0] = 2.0\nreturn a, b", 4, ("b = a\n", "b = at.copy(a)\n")),
    "one of two": ("for i in range(n):\n    if a[i] < 0.0:\n        a = b\n    a[i] = 5.0\nreturn a, b", 2, ("a = b\n", "a = at.copy(b)\n")),
    "in a while": ("i = 0\nwhile i < k:\n    a[0] += 0.5\n    b = a\n    a[i % n] = 1.0\n    i += 1\nreturn a, b", 2, ("b = a\n", "b = at.copy(a)\n")),
}  # fmt: skip

NOT = {  # programs that read what they need before it changes, or make new arrays
    "read first": "s = 0.0\nfor i in range(n):\n    old = a[i]\n    a[i] = 2.0\n    s += old\nreturn a, s",
    "made anew": "for i in range(k):\n    a = [x * 2.0 for x in a]\nreturn a",
    "written by the user": "for i in range(k):\n    if a[0] > 1.0:\n        b[:] = a\n    a[0] += 1.0\nreturn a, b",
}


def program(body: str, copies: str = "any"):
    return at.fn(source=HEAD.format(copies=copies) + "".join(f"    {line}\n" for line in body.split("\n")))


def warned(body: str) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        program(body).compile(optimise="0")
    return [w for w in found if w.category is at.CopyWarning]


@pytest.mark.parametrize("name", COPIED)
@pytest.mark.filterwarnings("ignore::atoll.AliasWarning")
def test_a_copy_in_every_round_is_listed_warned_about_and_refused(name):
    body, line, (found, meant) = COPIED[name]
    uses = [u for u in program(body).memory().copies if "in every round" in u.reason or "in rounds that come to it" in u.reason]
    assert uses and all(repr(u.bytes) == "8*n" for u in uses) and line + 5 in {u.span.line for u in uses}
    (first, *_) = warned(body)
    assert "8*n bytes" in str(first.message) and "round" in str(first.message) and f"write {meant.split(' = ')[1].strip()}" in str(first.message) and first.lineno == line + 5
    with pytest.raises(at.CompileError, match="E0807"):
        program(body, "explicit").compile(optimise="0")
    written = body.replace(found, meant)
    assert written != body and not warned(written)
    assert "round" not in refused(written) or "last round" in refused(written)


def refused(body: str) -> str:
    try:
        program(body, "explicit").compile(optimise="0")
    except at.CompileError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", NOT)
def test_no_copy_no_warning(name):
    assert not warned(NOT[name])
    assert "in every round" not in refused(NOT[name]) and "that come to it" not in refused(NOT[name])


def test_derivatives_do_not_warn():
    """What is copied for a derivative is not the user's to change."""
    f = at.fn(source='import atoll as at\nfrom atoll import f64\nn = at.sizes("n")\n@at.fn\ndef f(a: f64[n]):\n    s = 0.0\n    for i in range(n):\n        s += a[i] * a[0]\n        a[0] = s\n    return s\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error", at.CopyWarning)
        at.grad(f).compile(optimise="0")
