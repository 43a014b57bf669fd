"""False certificates that fit together, each of which was accepted once: what they prove would be wrong, so each must be refused for its reason."""

from __future__ import annotations

import gc
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import atoll as at
from atoll import f32
from atoll.check.prove import prove, prove_file
from atoll.check.sums import Rejected
from tests.check.mutations import holds

n, m, k = at.sizes("n m k")
Data = dict[str, Any]


@at.fn
def sums(u: f32[n, k], v: f32[n, k]) -> f32[n]:
    return [sum(u[i, p] for p in range(k)) - 2.0 * sum(v[i, p] for p in range(k)) for i in range(n)]


@at.fn
def padded(u: f32[n, k], w: f32[m]) -> f32[n]:
    return [sum(u[i, p] for p in range(k)) if i < m else 0.0 for i in range(n)]


@at.fn
def masked(u: f32[n], w: f32[m]) -> f32[n]:
    return [u[i] if i < m else 0.0 for i in range(n)]


@at.fn
def less(u: f32[n], v: f32[n]) -> f32[n]:
    return [u[i] - 2.0 * v[i] for i in range(n)]


@at.fn
def twice(u: f32[n]) -> f32[n]:
    b = [u[i] * 2.0 for i in range(n)]
    c = [b[n - 1 - i] + 1.0 for i in range(n)]
    return [c[n - 1 - i] * b[i] for i in range(n)]


@at.fn
def halves(u: f32[n]) -> f32[n]:
    b = [u[i] * 0.5 if i >= 3 else 0.0 for i in range(n)]
    return [b[n - 1 - i] + 1.0 for i in range(n)]


@at.fn
def vanishing(a: f32[n, k], b: f32[n, m], c: f32[n]) -> f32[n]:
    return [sum(sum((a[i, p] if p >= 3 else 0.0) if c[i] > 0.0 else b[i, q] * a[i, p] for p in range(k)) for q in range(m)) for i in range(n)]


@at.fn
def largest(u: f32[n, k]) -> f32[n]:
    return [reduce(maximum, -9.0, [u[i, p] if p < 3 else 0.0 for p in range(k)]) for i in range(n)]


def data_of(s: Any) -> Data:
    data: Data = json.loads(json.dumps(s.certificate().data))
    assert prove(data)
    return data


def replace(x: Any, old: str, new: str) -> Any:
    return json.loads(json.dumps(x).replace(json.dumps(old), json.dumps(new)))


def each(x: Any, kind: str) -> list[Any]:
    """Every list that starts with this word."""
    if not isinstance(x, list):
        return []
    return ([x] if x[:1] == [kind] else []) + [found for y in x for found in each(y, kind)]


def poly(data: Data, *terms: Any) -> int:
    data["P"].append([list(t) for t in terms])
    return len(data["P"]) - 1


def two_scalars_in_one_variable() -> Data:
    data = data_of(at.schedule(sums))
    data["loops"] = replace(data["loops"], "part_1", "part")
    return data


def without_else() -> Data:
    data = data_of(at.schedule(padded))
    for x in each(data["loops"]["body"], "if"):
        x[3] = []
    return data


def a_size_replaced_in_a_cover() -> Data:
    """C9 "in the round i = u, with m := n"."""
    data = without_else()
    u = data["results"][0][1][0]
    data["results"][0][2] = [0, [["i#0", poly(data, (1, u))], ["m", poly(data, (1, "n"))]]]
    return data


def a_loop_called_like_a_quotient() -> Data:
    """0 <= (3n+1)//2 < n holds for no n: whatever is inside such a loop would follow, for example that masked(u, w) is 0."""
    data = data_of(at.schedule(masked))
    terms = data["T"]
    data["Q"] = [[poly(data, (3, "n"), (1,)), poly(data, (2,))]]
    quotient, zero, size = poly(data, (1, 0)), poly(data), poly(data, (1, "n"))
    evil = "[(((), 1), (('n',), 3))/(((), 2),)]"
    terms.append(["get", "u", [quotient]])
    terms.append(["guard", [poly(data, (1, "m"), (-1,), (-1, 0))], len(terms) - 1])
    terms.append(["gen", evil, zero, size, len(terms) - 1])
    renamed = len(terms) - 1
    terms.append(["zero", [], "f32"])
    nothing = len(terms) - 1
    terms.append(["gen", evil, zero, size, nothing])
    data["final"] = len(terms) - 1
    data["steps"] += [[[], "loop_shift", {"by": {"p": zero}}, renamed, []], [[0], "simplify", {}, nothing, []]]
    data["loops"]["body"] = [["for", evil, zero, size, [False, 0, False, False], [["store", "result", [quotient], ["const", {"f": "0x0.0p+0"}, "f32"]]]]]
    cell = data["results"][0][1][0]
    data["results"] = [["result", [cell], [0, [[evil, poly(data, (1, cell))]]], True]]
    data["covers"], data["disjoint"], data["races"], data["injective"] = [], [], [], [[0, None]]
    return data


def another_type_of_result() -> Data:
    data = data_of(at.schedule(less))
    data["loops"]["outputs"][0][1] = "i8"
    return data


def two_arguments_in_one_buffer() -> Data:
    data = data_of(at.schedule(less))
    data["loops"] = replace(data["loops"], "v", "u")
    data["arrays"][1][3] = "u"
    return data


def arguments_exchanged() -> Data:
    data = data_of(at.schedule(less))
    data["arrays"][0][3], data["arrays"][1][3] = "v", "u"
    data["loops"] = replace(replace(replace(data["loops"], "v", "?"), "u", "v"), "?", "u")
    return data


def other_memory() -> Data:
    data = data_of(at.schedule(twice))
    data["memory"][0][1] = poly(data, (8, "n"))
    return data


def freed(what: str) -> Callable[[], Data]:
    def forge() -> Data:
        data = data_of(at.schedule(twice))
        for x in each(data["loops"]["body"], "free"):
            x[1] = what
        return data

    return forge


def a_long_array_on_the_stack() -> Data:
    data = data_of(at.schedule(twice))
    for x in each(data["loops"]["body"], "alloc"):
        x[4] = True
    return data


def a_zero_of_another_type() -> Data:
    """The first part of a concatenation vanishes and becomes i8, and with it the buffer."""
    data = data_of(at.schedule(halves).partition("b/i"))
    for t in data["T"]:
        if t[0] == "zero":
            t[2] = "i8"
    for x in each(data["loops"]["body"], "alloc"):
        x[2] = "i8"
    for x in each(data["loops"]["body"], "store"):
        if x[3][0] == "const":
            x[3] = ["const", 0, "i8"]
    return data


def a_licence_dropped_by_a_type() -> Data:
    data = data_of(at.schedule(vanishing).assume("k <= 3").simplify().rewrite("swap", at="q"))
    data["licences"] = []
    for t in data["T"]:
        if t[0] == "zero":
            t[2] = "i8"
    return data


def an_unbound_loop_variable() -> Data:
    @at.fn
    def f(u: f32[n, k]) -> f32[n]:
        return [sum(u[i, p] if p >= 1 else 0.0 for p in range(k)) for i in range(n)]

    data = data_of(at.schedule(f))
    body = data["loops"]["body"][0][5]
    body[0] = ["if", body[1][5][0][1], [body[0]], []]
    one = poly(data, (1,))
    for row in data["covers"]:
        row[1] = [0, [["p#0", one]]]
    data["results"][0][2] = [0, [data["results"][0][2][1][0], ["p#0", one]]]
    return data


def memory_nobody_writes() -> Data:
    """A buffer without a store is none that an opaque part fills."""
    data = data_of(at.schedule(twice))
    loops = data["loops"]["body"]
    first = next(j for j, x in enumerate(loops) if x[0] == "for")
    del loops[first]
    return data


def a_divisor_divided_out() -> Data:
    data = data_of(at.schedule(less))
    data["Q"].append([poly(data, (1, "n", "n")), poly(data, (1, "n"))])
    size = poly(data, (1, len(data["Q"]) - 1))
    for x in each(data["loops"]["body"], "for"):
        x[3] = size
    return data


def a_zero_instead_of_a_maximum() -> Data:
    """A zero among the elements of a maximum is one of them: it does not set the result."""
    data = data_of(at.schedule(largest).partition("p", [3]))
    (zeros,) = [x for x in each(data["loops"]["body"], "assign") if x[2][0] == "call" and x[2][2][1][0] == "const"]
    zeros[2] = zeros[2][2][1]
    return data


FORGERIES = {
    a_zero_instead_of_a_maximum: "another value for",
    two_scalars_in_one_variable: "stands twice",
    without_else: "C9",
    a_size_replaced_in_a_cover: "no loop around the store",
    a_loop_called_like_a_quotient: "not a name",
    another_type_of_result: "types of results",
    two_arguments_in_one_buffer: "another's place",
    arguments_exchanged: "another's place",
    other_memory: "another list of memory",
    freed("u"): "other memory is freed",
    freed("result"): "other memory is freed",
    freed("nothing"): "other memory is freed",
    a_long_array_on_the_stack: "literal size",
    a_zero_of_another_type: "does not follow",
    a_licence_dropped_by_a_type: "does not follow",
    an_unbound_loop_variable: "not in scope",
    memory_nobody_writes: "in the loops|another",
    a_divisor_divided_out: "may be zero",
}


@pytest.mark.parametrize(("forge", "why"), FORGERIES.items(), ids=[f.__name__ for f in FORGERIES])
def test_forgery(forge: Callable[[], Data], why: str) -> None:
    with pytest.raises(Rejected, match=why):
        prove(forge())


def test_the_loops_are_really_run() -> None:
    """What mutants are held to finds a false certificate when the checker is not asked."""
    for forge in (two_scalars_in_one_variable, without_else, a_long_array_on_the_stack):
        assert (holds(forge()) is None) == (forge is a_long_array_on_the_stack)


# -- files that are none, or too much


def doubled(data: Data, depth: int) -> Data:
    """A term that is small as a table and large when written out."""
    term = data["T"][data["source"]][-1]
    for _ in range(depth):
        data["T"].append(["op", "add", [term, term], "f32"])
        term = len(data["T"]) - 1
    data["T"].append([*data["T"][data["source"]][:-1], term])
    data["source"] = len(data["T"]) - 1
    return data


def hostile(folder: Path) -> list[Path]:
    good = data_of(at.schedule(less))
    wide, deep, nested = json.loads(json.dumps(good)), json.loads(json.dumps(good)), json.loads(json.dumps(good))
    wide["P"].append([[1, *["n"] * 100_000]])
    wide["facts"].append(len(wide["P"]) - 1)
    for row in range(60):
        deep["P"].append([[3, len(deep["Q"]) - 1 if row else "n"], [5, len(deep["Q"]) - 1 if row else "m"], [1]])
        deep["Q"].append([len(deep["P"]) - 1, poly(deep, (7,))])
    deep["facts"].append(poly(deep, (1, len(deep["Q"]) - 1)))
    nested["loops"]["body"] = "[" * 10
    busy = doubled(json.loads(json.dumps(good)), 10)
    busy["steps"] = [busy["steps"][0], *([[[], "loop_shift", {"by": {"p": poly(busy)}}, busy["source"], []]] * 5000)]
    busy["steps"][0][3] = busy["final"] = busy["source"]
    digits = json.dumps(good)[:-1] + ', "sizes": [' + "9" * 100_000 + "]}"
    texts = [json.dumps(wide), json.dumps(deep), json.dumps(nested), json.dumps(doubled(json.loads(json.dumps(good)), 60)), json.dumps(busy), digits]
    texts += ["", "{", "[]", "null", "[" * 200_000, json.dumps(good)[:-40], '{"format": "atoll certificate 1"}', "\x00\x01\x02"]
    made = []
    for j, text in enumerate(texts):
        made.append(folder / f"{j}.cert")
        made[-1].write_text(text)
    bomb, cut, large = folder / "bomb.cert.gz", folder / "cut.cert.gz", folder / "large.cert"
    bomb.write_bytes(gzip.compress(b" " * 200_000_000))
    cut.write_bytes(gzip.compress(json.dumps(good).encode())[:-30])
    large.write_bytes(b" " * 20_000_000)
    return [*made, bomb, cut, large]


def test_hostile_files(tmp_path: Path, capsys: Any) -> None:
    """One line and exit status 1, soon; a bound on memory is kept by never unpacking more than a certificate can have."""
    files = hostile(tmp_path)
    gc.freeze()  # what other tests left in this process is no work of the checker's
    try:
        for path in files:
            start = time.process_time()
            assert prove_file(path) == 1, path
            said = capsys.readouterr().out
            assert said.count("\n") == 1 and "not valid" in said and len(said) < 1000, (path, said)
            assert time.process_time() - start < 2.5, path
    finally:
        gc.unfreeze()
