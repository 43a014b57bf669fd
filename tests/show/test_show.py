"""Looking into functions: every stage of every kind of function has text, names in it are unique, and notebooks get a page."""

import re

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.stages import STAGES

n, m, k = at.sizes("n m k")
a = at.types("a")


@at.fn
def blur(x: f64[n, m]) -> f64[n - 2, m]:
    """Three rows at a time."""
    tall = [[x[i, j] + x[i + 1, j] + x[i + 2, j] for j in range(m)] for i in range(n - 2)]
    return [[v / 3 for v in row] for row in tall]


@at.fn
def square(x: f64[n, n]):
    return x @ x, [sum(x[i, :i]) for i in range(n)], x.T @ x


@at.fn
def loops(x: f64[n], rounds: i64) -> f64[n]:
    for i in range(rounds):
        x = [x[j] + sum(x[i] * i for i in range(n)) for j in range(n)]
        while x[0] > 100.0:
            x[0] = x[0] / 2
    return x


@at.fn
def operators(x: f64[n], places: i64[n]):
    return scan(add, 0.0, x), hist(add, 0.0, 4, places, x), sort(x), filter(lambda v: v > 0, x), argmin(x), reduce(lambda u, v: u if u > v else v, 0.0, x)


@at.fn
def factorial(i: i64) -> i64:
    return 1 if i <= 0 else i * factorial(i - 1)


@at.fn
def generic(x: a[n]) -> a[n]:
    return reverse(x)


@at.fn
def with_nothing_to_do(x: f64) -> f64:
    return x


PLAIN = [blur, square, loops, operators, with_nothing_to_do, at.grad(with_nothing_to_do)]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("f", PLAIN, ids=lambda f: f.name)
def test_every_stage_has_a_text(f, stage):
    if f is operators and stage == "term":
        with pytest.raises(at.ScheduleError, match="decided while the program runs"):
            f.show(stage)
        return
    text = f.show(stage)
    assert text.strip() and "object at 0x" not in text and "Traceback" not in text


def unique_indices(text: str) -> None:
    """No line of a normal form binds one name twice, nor one that a loop around it has bound."""
    around: list[tuple[int, set[str]]] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        around = [(d, names) for d, names in around if d < depth]
        outer = set().union(*(names for _, names in around)) if around else set()
        bound = re.findall(r"(?:for|loop|add|scan \w+|fold|argsort|compress|unique) (\w+):", line)
        assert len(set(bound)) == len(bound), line
        if "loop" in line or "fold" in line:
            assert not outer & set(re.findall(r"loop (\w+):", line)), line
            around.append((depth, set(bound)))
        for heads in re.findall(r"\(((?:λ\w+<[^.]*\. )+)", line):
            names = re.findall(r"λ(\w+)<", heads)
            assert len(set(names)) == len(names), line


@pytest.mark.parametrize("f", [blur, square, loops, operators], ids=lambda f: f.name)
def test_indices_of_normal_forms_have_different_names(f):
    unique_indices(f.show("ainf"))


def test_colliding_indices_are_told_apart():
    """Rows of a table that depend on the row: both axes were called i."""

    @at.fn
    def table(x: f64[n]) -> f64[n, n]:
        return map(lambda u: map(lambda v: u * v + exp(u), x), x)

    unique_indices(table.show("ainf"))


def test_surface_is_what_was_written():
    assert blur.show("surface") == (
        "def blur(x: f64[n, m]) -> f64[n - 2, m]:\n"
        '    """Three rows at a time."""\n'
        "    tall = [[x[i, j] + x[i + 1, j] + x[i + 2, j] for j in range(m)] for i in range(n - 2)]\n"
        "    return [[v / 3 for v in row] for row in tall]"
    )


def test_surface_of_a_header_over_lines():
    @at.fn
    def long(
        x: f64[n],
        y: f64[n],
    ) -> f64[n]:
        return x + y

    assert long.show("surface").splitlines() == ["def long(", "    x: f64[n],", "    y: f64[n],", ") -> f64[n]:", "    return x + y"]


def test_recursion_is_shown_where_it_has_a_text():
    for stage in ("surface", "core", "ainf", "term", "c"):
        assert "factorial" in factorial.show(stage)
    for stage in ("plan", "loops"):
        with pytest.raises(at.CompileError) as caught:
            factorial.show(stage)
        assert caught.value.code == "E0801"


def test_generic_functions_have_text_and_type():
    assert generic.type == "generic(x: a[n]) -> a[n]"
    assert generic.show("surface").startswith("def generic")
    assert "reverse(x)" in generic.explain()
    with pytest.raises(at.TypeError):
        generic.show("core")


def test_unknown_stage():
    with pytest.raises(at.CompileError) as caught:
        blur.show("assembly")
    assert caught.value.code == "E0806"


def test_type_shows_what_was_inferred():
    assert square.type == "square(x: f64[n, n]) -> (f64[n, n], f64[n], f64[n, n])"
    assert repr(blur) == "<atoll function blur(x: f64[n, m]) -> f64[n - 2, m]>"


def test_explain_writes_what_was_inserted():
    @at.fn
    def rows(x: f64[n, m], w: f64[m]):
        return sum(x * w)

    text = rows.explain()
    assert "map(sum, map(" in text and "# f64[n]" in text


def test_memory_lists_results_temporaries_and_copies():
    @at.fn
    def kept(x: f64[n]) -> f64[n]:
        total = scan(add, 0.0, x)
        return [total[n - 1 - i] for i in range(n)]

    memory = kept.memory()
    assert [u.kind for u in memory if u.kind == "result"] == ["result"]
    sizes = {"n": 10}
    assert all(use.bytes.evaluate(lambda s: sizes[repr(s)]) == 80 for use in memory if use.kind == "result")
    assert repr(memory).startswith("kept:\n")
    assert len(memory) == len(list(memory)) >= 1


def test_a_page_for_notebooks():
    page = blur._repr_html_()
    assert page.count("<details") == page.count("</details>") == 4
    for word in ("source", "inserted", "loops", "memory", "f64[n - 2, m]", "Three rows at a time"):
        assert word in page
    assert "-&gt;" in page and "<script" not in page


@pytest.mark.parametrize("f", [factorial, generic], ids=lambda f: f.name)
def test_a_page_for_functions_without_loops(f):
    page = f._repr_html_()
    assert f.name in page and "Traceback" not in page and page.count("<details") == 4


def test_a_page_escapes_what_the_user_wrote():
    f = at.fn(source="import atoll as at\ndef f(x: at.f64) -> at.f64:\n    # <script>alert(1)</script>\n    return x if x < 1 else 2 * x\n")
    page = f._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_looking_does_not_change_the_function():
    before = blur(np.ones((4, 3)))
    for stage in STAGES:
        blur.show(stage)
    np.testing.assert_array_equal(blur(np.ones((4, 3))), before)
