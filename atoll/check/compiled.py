"""`f.certificate()` of a function without a schedule: its lowered loops, every rewrite on the way to those that are printed, and what is proved of each.

A rewrite is validated for all sizes by check/rewrites/, on the data that is written down. Where that does not follow it, the bounded validator runs both programs at
small sizes; one that it refutes is an error (E0511), so no certificate says anything false of it. `ATOLL_CHECK=certify` does this at every compile.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from atoll.check.certificate import Certificate, make_certificate
from atoll.check.rewrites.chain import FORMAT, TRUSTED, Chain
from atoll.check.rewrites.refute import LEFT, Budget
from atoll.check.sums import Rejected
from atoll.check.watched import Rewrite, Watched, watch
from atoll.core import ir
from atoll.core.fingerprint import fingerprint
from atoll.core.needs import needs_functions
from atoll.errors import Error, fail
from atoll.functions.pipeline import passes
from atoll.loops.choices import Choices
from atoll.lower.make import make_loops
from atoll.schedule.api import schedule
from atoll.validate.bounded import same_results

if TYPE_CHECKING:
    from atoll.function import Function

SECONDS = 8.0  # of the bounded validator, for a function


def make_data(core: ir.Function, choices: Choices | None = None, seconds: float = SECONDS, bounded: bool = True) -> dict[str, Any]:
    """The certificate of a function as data; E0511 when a rewrite is wrong."""
    watched = watch(core, choices)
    if watched is None:
        return without_loops(core)
    notes: dict[str, None] = {}
    found = validated(watched, notes)
    if bounded and any(found):
        watched = watch(core, choices, bounded=frozenset(k for k, why in enumerate(found) if why), seconds=seconds)
        assert watched is not None
        for r in watched.rewrites:
            if r.bounded is not None and r.bounded.kind == "wrong":
                fail("E0511", core.span, name=core.name, rewrite=r.name, problem=r.bounded.detail)
    rows = [_row(r, why) for r, why in zip(watched.rewrites, found, strict=True)]
    return {**_head(core), **_arguments(watched), "lowered": watched.lowered, "rewrites": rows, "notes": list(notes), **watched.data.tables()}


def validated(watched: Watched, notes: dict[str, None] | None = None, only: str | None = None) -> list[str]:
    """For each rewrite, why it is not proved; empty when it is. `notes`: what is taken on trust of those that are; `only` one of
    them is looked at."""
    data: dict[str, Any] = {"format": FORMAT, **_arguments(watched), "reassociate": watched.core.reassociate, **watched.data.tables()}
    chain = Chain(data)
    found: list[str] = []
    left = LEFT.set(Budget())  # what is proved can be checked in that much
    try:
        now = chain.program(watched.lowered)
        for r in watched.rewrites:
            after = chain.program(r.after)
            parts = [] if only not in (None, r.name) else chain.step(now, after, {"origins": r.origins, "roots": r.roots, "regroups": r.regroups})
            found.append(next((p.why for p in parts if p.why), ""))
            if notes is not None and not found[-1]:
                notes.update(dict.fromkeys(f"{r.name}: {note}" for p in parts for note in p.notes))
            now = after
    except Rejected as problem:  # the loops themselves are none that the checker reads
        found += [str(problem)] * (len(watched.rewrites) - len(found))
    finally:
        LEFT.reset(left)
    return found


def _arguments(watched: Watched) -> dict[str, Any]:
    data, loops = watched.data, watched.loops
    return {"sizes": [s.name for s in loops.sizes], "arguments": data.arguments(loops), "constants": data.constants(loops), "results": data.results(loops)}


def _row(r: Rewrite, why: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": r.name, "status": "open" if why else "proved", "why": why, "after": r.after}
    if not why:
        return {**row, "origins": r.origins, "roots": r.roots, "regroups": r.regroups}
    b = r.bounded
    if b is not None and b.kind != "unseen" and (b.ran or not b.new):
        row |= {"status": "bounded", "bounded": {"sizes": b.sizes, "ran": b.ran, "new": b.new, "kind": b.kind}}
    elif b is not None:
        row["why"] += "; no new statement ran at small sizes"
    return row


def _head(core: ir.Function) -> dict[str, Any]:
    digest, _ = fingerprint(core)
    return {"format": FORMAT, "program": core.name, "digest": digest, "reassociate": core.reassociate}


def without_loops(core: ir.Function) -> dict[str, Any]:
    order = ", ".join(dict.fromkeys(name for name, _ in passes()))
    row = {"name": "functions", "status": "open", "why": f"it goes through λANF, whose passes nobody validates: {order}", "after": []}
    return {**_head(core), "sizes": [], "lowered": [], "rewrites": [row], "arguments": [], "results": [], "P": [], "Q": [], "E": [], "S": []}


def certificate(f: Function) -> Certificate:
    """The certificate of a compile, with its source and its C."""
    core = f.core
    data = without_loops(core) if needs_functions(core) else make_data(core)
    text = f.show("c")
    data["c"] = {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    data["source"] = source(f) if data["lowered"] else {"what": "none: it has no loops of its own", "certificate": None}
    return Certificate(data)


def source(f: Function) -> dict[str, Any]:
    """How the lowered loops are known to be the function's: against the loops of its source term, whose certificate is included, at small sizes."""
    trusted = "trusted (atoll/lower, tested against the interpreter)"
    try:
        s = schedule(f)
        if s.source.nests:
            kinds = sorted({type(n.line.prim).__name__.lower() for n in s.source.nests})
            return {"what": f"{trusted}; the source term has {len(s.source.nests)} opaque parts: {', '.join(kinds)}", "certificate": None}
        inner = make_certificate(s)
        plain = s.lowered.function
    except Error as error:
        return {"what": f"{trusted}; there is no source term: {str(error).splitlines()[0]}", "certificate": None}
    run, same = same_results(make_loops(f.core), plain, f.core.reassociate)
    if run and not same:
        fail("E0511", f.core.span, name=f.name, rewrite="lowering", problem="the loops compute something else than the source term")
    how = f"bounded: the same as the loops of the source term at {run} small sizes" if run else trusted
    return {"what": f"{how}; those have a certificate of their own, which is included and checked", "certificate": inner.data}


def certify(core: ir.Function, choices: Choices | None = None) -> None:
    """ATOLL_CHECK=certify: every rewrite of this function is validated or at least not refuted; E0511 when one is wrong."""
    make_data(core, choices, seconds=2.0)


def without_rewrites(name: str, source: str, text: str) -> Certificate:
    """Of an operator of MADL: its loops are printed as they are made."""
    row = {"name": "madl", "status": "open", "why": "its loops are made by atoll/madl, which is tested against the oracle and not validated", "after": []}
    digest, c = (hashlib.sha256(x.encode()).hexdigest() for x in (source, text))
    head = {"format": FORMAT, "program": name, "digest": digest, "reassociate": False}
    rest = {"sizes": [], "lowered": [], "rewrites": [row], "arguments": [], "results": [], "notes": [], "P": [], "Q": [], "E": [], "S": []}
    return Certificate({**head, **rest, "c": {"text": text, "sha256": c}, "source": {"what": "none: an operator of MADL", "certificate": None}})


def assumptions(f: Function) -> list[str]:
    """What the certificate leaves to trust, one line each."""
    return left_open(certificate(f).data)


def left_open(data: dict[str, Any]) -> list[str]:
    lines = [f"lowering: {data['source']['what']}"]
    for r in data["rewrites"]:
        if r["status"] == "bounded":
            b = r["bounded"]
            lines.append(f"{r['name']}: not proved ({r['why']}); bounded: executed at {b['sizes']} sizes, {b['ran']} of {b['new']} new statements ran, {b['kind']}")
        elif r["status"] == "open":
            lines.append(f"{r['name']}: not validated ({r['why']})")
    proved = [r["name"] for r in data["rewrites"] if r["status"] == "proved"]
    if proved:
        lines.append(f"nothing about {', '.join(proved)}: proved for all sizes")
    lines += [f"{note}, which is believed" for note in data.get("notes", ())]
    lines += TRUSTED
    lines.append("the C printer prints these loops (backends/c/), the C compiler compiles it, the runtime runs it")
    return lines
