"""Ways to break a certificate, and what an accepted one is held to: its loops compute its source term.

Edits come alone or together, because a forger makes several that fit: a name changed everywhere, two places at once, rows exchanged, what is
said of obligations dropped, a part taken from another certificate. A broken certificate that is accepted is no failure by itself: an argument
may be advice, another order of a sum's terms says the same. So every accepted one is *run* (run_loops.py), at several sizes that its
hypotheses allow, against its own source term: `holds`. `python -m tests.check.mutations 0 5000` does it for a range of seeds.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from functools import cache
from typing import Any

import numpy as np

import atoll as at
from atoll import f32, i32, i64
from atoll.check.prove import prove
from atoll.check.sums import Rejected, Tables
from tests.check.run_loops import NUMPY, Run, Source, Wrong, evaluate
from tests.conformance.test_schedules_programs import load

CLAIMS = ("P", "Q", "T", "steps", "loops", "covers", "results", "injective", "disjoint", "races", "arrays", "licences", "filled", "base", "H", "memory", "facts")
n, m, k = at.sizes("n m k")


@at.fn
def sums(u: f32[n, k], v: f32[n, k]) -> f32[n]:
    return [sum(u[i, p] for p in range(k)) - 2.0 * sum(v[i, p] for p in range(k)) for i in range(n)]


@at.fn
def padded(u: f32[n, k], w: f32[m]) -> f32[n]:
    return [sum(u[i, p] for p in range(k)) if i < m else 0.0 for i in range(n)]


@at.fn
def kept(u: f32[n]) -> f32[n]:
    b = [u[i] * 2.0 if i >= 3 else 0.0 for i in range(n)]
    c = [b[n - 1 - i] + 1.0 for i in range(n)]
    return [c[n - 1 - i] * b[i] for i in range(n)]


@at.fn
def both(a: i32[n, m]) -> (i32[n], i32[n, m]):
    most = [max((a[i, j] for j in range(m)), default=-1) for i in range(n)]
    return most, [[a[i, j] - most[i] for j in range(m)] for i in range(n)]


@at.fn
def looked_up(t: f32[n], ix: i64[m], w: f32[m]) -> f32[m]:
    b = [t[i] * 2.0 for i in range(n)]
    return [(b[ix[j]] if 0 <= ix[j] and ix[j] < n else 0.0) + (w[j - 1] if j >= 1 else 1.0) for j in range(m)]


@at.fn
def rows(t: f32[n], ix: i64[m, k], w: f32[m, k]) -> f32[m]:
    return [sum((t[ix[i, p]] if 0 <= ix[i, p] and ix[i, p] < n else 0.0) * w[i, p] for p in range(k)) for i in range(m)]


LOOKED_UP = (8, 9)  # of the certificates below: what they look up is a named value, which is not replayed
BLOCKS = (15, 16)  # of the certificates below: sums by blocks of their maxima (s.online)


@cache
def certificates() -> list[dict[str, Any]]:
    """Of schedules with tails, guards, gathers, elements looked up by data, rolled rows, tiles, scalars, padding, several results, threads and vectors."""
    made = [load("blur").fused_tails(), load("convolution").gather(), load("stencil").window(), load("matmul").tiled_tails()]
    made += [at.schedule(sums), at.schedule(padded), at.schedule(kept).partition("b/i"), at.schedule(both)]
    made += [at.schedule(looked_up).split("j", 4, tail="guard"), at.schedule(looked_up).partition("j"), at.schedule(rows).tile(("i", "p"), (2, 3))]
    made += [at.schedule(sums).split("i", 4, tail="guard").parallel("i_o"), at.schedule(kept).split("i", 4).vectorize("i_i", 4)]
    rounds, blocks = load("rounds"), load("online_softmax")
    made += [rounds.per_row(), rounds.row_after_row(), at.schedule(blocks.logsumexp).online("top", 4, at="i"), at.schedule(blocks.attention).online("top", 2, at="i").parallel("i")]
    return [json.loads(json.dumps(s.certificate().data)) for s in made]


# -- edits


def places(x: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every number, text, flag and list inside some data."""
    found = [path] if not isinstance(x, dict) else []
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def get(x: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        x = x[key]
    return x


def put(x: Any, path: tuple[Any, ...], new: Any) -> None:
    get(x, path[:-1])[path[-1]] = new


def other(rng: random.Random, old: Any, names: list[str]) -> Any:
    """Something else of the same kind."""
    match old:
        case bool():
            return not old
        case int():
            return old + rng.choice([-2, -1, 1, 2])
        case str():
            swaps = {"add": "sub", "mul": "add", "store": "update", "read": "store", "gen": "sum", "fma": "mul", "ge": "eq", "f32": "i8", "heap": "stack"}
            return swaps[old] if old in swaps else rng.choice([x for x in [*names, f"{old}_"] if x != old])
        case None:
            return rng.choice([[], 0])
        case list() if len(old) > 1 and rng.random() < 0.5:
            at = rng.randrange(len(old))
            return old[:at] + old[at + 1 :]
        case list() if len(old) > 1:
            return old[::-1] if old[::-1] != old else old[1:]
        case list():
            return []
    return old


def used_names(data: dict[str, Any]) -> list[str]:
    found = {x for row in data["P"] for mono in row for x in mono[1:] if isinstance(x, str)}
    found |= {x[1] for x in _statements(data["loops"]["body"]) if x[0] in ("for", "alloc", "declare", "set")}
    return sorted(found | {row[0] for row in data["arrays"]})


def _statements(stmts: list[Any]) -> list[Any]:
    found = []
    for x in stmts:
        found.append(x)
        for inner in {"for": x[5:6], "if": x[2:4]}.get(x[0], ()):
            found += _statements(inner)
    return found


def edit_one(rng: random.Random, data: dict[str, Any], names: list[str] | None = None) -> str:
    part = rng.choice([c for c in CLAIMS if data.get(c)])
    path = (part, *rng.choice(places(data[part])))
    if len(path) < 2:
        return ""
    old = get(data, path)
    new = other(rng, old, used_names(data) if names is None else names)
    put(data, path, new)
    return f"{'/'.join(map(str, path))}: {_short(old)} -> {_short(new)}"


def edit_two(rng: random.Random, data: dict[str, Any]) -> str:
    names = used_names(data)  # before it is broken
    return f"{edit_one(rng, data, names)}; {edit_one(rng, data, names)}"


def edit_rename(rng: random.Random, data: dict[str, Any]) -> str:
    """One name becomes another, everywhere, in the loops alone, or in the loops and the polynomials."""
    names = used_names(data)
    old, new = rng.sample(names, 2) if len(names) > 1 else (names[0], "x")
    where = rng.choice([("loops",), ("loops", "P"), ("T",), ("T", "P"), ("loops", "covers", "results"), tuple(data)])
    for part in where:
        data[part] = json.loads(json.dumps(data[part]).replace(json.dumps(old), json.dumps(new)))
    return f"{old} -> {new} in {', '.join(where)}"


def edit_swap(rng: random.Random, data: dict[str, Any]) -> str:
    """Two rows of a table, or two statements, change places."""
    bodies = [data["loops"]["body"]] + [inner for x in _statements(data["loops"]["body"]) for inner in {"for": x[5:6], "if": x[2:4]}.get(x[0], ())]
    rows = rng.choice([data[c] for c in CLAIMS if isinstance(data.get(c), list) and len(data[c]) > 1] + [b for b in bodies if len(b) > 1])
    i, j = rng.sample(range(len(rows)), 2)
    rows[i], rows[j] = rows[j], rows[i]
    return f"rows {i} and {j} exchanged"


def edit_drop(rng: random.Random, data: dict[str, Any]) -> str:
    """Something is left out: a statement, an obligation, a proof, a licence, or what is said about one."""
    part = rng.choice([c for c in CLAIMS if isinstance(data.get(c), list) and data[c]] + ["stmt"] * 4)
    if part == "stmt":
        bodies = [data["loops"]["body"]] + [inner for x in _statements(data["loops"]["body"]) for inner in {"for": x[5:6], "if": x[2:4]}.get(x[0], ())]
        body = rng.choice([b for b in bodies if b])
        del body[rng.randrange(len(body))]
        return "a statement left out"
    if part in ("injective", "disjoint", "races") and rng.random() < 0.5:
        rng.choice(data[part])[-1] = None
        return f"{part}: nothing said"
    del data[part][rng.randrange(len(data[part]))]
    return f"{part}: one left out"


def edit_graft(rng: random.Random, data: dict[str, Any]) -> str:
    """A part of another certificate."""
    part = rng.choice([c for c in CLAIMS if c in data])
    data[part] = copy.deepcopy(rng.choice(certificates())[part])
    return f"{part} of another certificate"


EDITS = (edit_one, edit_one, edit_two, edit_rename, edit_rename, edit_swap, edit_drop, edit_graft)


def mutate(seed: int) -> tuple[dict[str, Any], str, str]:
    """A broken copy of one of the certificates, the kind of edit, and what it was."""
    rng = random.Random(seed)
    data = copy.deepcopy(rng.choice(certificates()))
    edit = rng.choice(EDITS)
    return data, edit.__name__, edit(rng, data)


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 60 else f"{text[:57]}..."


# -- what an accepted certificate is held to


def holds(data: dict[str, Any]) -> str | None:
    """None when the loops compute the source term at every size tried; else what they do."""
    tables = Tables(data)
    facts = tables.polys(data["facts"])
    rng = np.random.default_rng(5)
    tried = 0
    choices = (0, 1, 2, 3, 5, 9) if len(data["sizes"]) < 4 else (0, 1, 2, 4)
    for _ in range(24):
        sizes = {x: int(rng.choice(choices)) for x in data["sizes"]}
        if any(evaluate(p, sizes) < 0 for p in facts):
            continue
        shapes = {x: [evaluate(p, sizes) for p in tables.polys(e)] for x, _, e, _ in data["arrays"]}
        if any(extent < 0 for s in shapes.values() for extent in s):
            continue
        arguments = {x: rng.integers(1, 9, shapes[x]).astype(NUMPY[d]) for x, d, _, _ in data["arrays"]}
        try:
            want = Source(data, sizes, arguments).results
            got = Run(data, sizes, arguments).results
        except Wrong as problem:
            return f"{sizes}: {problem}"
        for a, b in zip(got, want, strict=True):
            b = b.reshape(a.shape)
            rescaled = "rescale" in data["licences"]  # an equation of real numbers: of others it says nothing
            if not (np.allclose(a[np.isfinite(b)], b[np.isfinite(b)], rtol=1e-12, atol=0) if rescaled else np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")):
                return f"{sizes}: {a.tolist()} is not {b.tolist()}"
        tried += 1
    return None if tried else "no size was tried"


def check(seed: int) -> tuple[str, str | None]:
    """rejected, accepted (and equivalent), or the failure."""
    data, kind, what = mutate(seed)
    try:
        prove(copy.deepcopy(data))
    except Rejected:
        return f"{kind} rejected", None
    problem = holds(data)
    return f"{kind} accepted", None if problem is None else f"seed {seed}: {what}: {problem}"


def main() -> int:
    start, stop = int(sys.argv[1]), int(sys.argv[2])
    counts: Counter[str] = Counter()
    failures = []
    for seed in range(start, stop):
        kind, problem = check(seed)
        counts[kind] += 1
        if problem is not None:
            failures.append(problem)
            print(problem, flush=True)
    print(f"{stop - start} mutants, {len(failures)} wrong: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
