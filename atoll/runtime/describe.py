"""f.explain("schedule"): what the compiler decided about the loops of a function, in words."""

from __future__ import annotations

from atoll.core import ir as core
from atoll.loops import ir as lp
from atoll.loops.choices import file_of
from atoll.loops.optimise import optimise
from atoll.lower.make import chosen, make_loops


def describe(fn: core.Function) -> str:
    """Decisions in the order of the program, then those of the rewrites, then what is pinned."""
    choices = chosen(fn)
    loops = make_loops(fn, choices)
    lines = [f"{fn.name}: how it runs"]
    if choices.products:
        lines += _structure(loops.body, 1)
        decisions = optimise(loops, fn.reassociate, choices)
    else:
        decisions = optimise(loops, fn.reassociate, choices)
        lines += _structure(loops.body, 1)
    lines.append("rewrites" if decisions else "no rewrites apply")
    lines += [f"  {d}" for d in dict.fromkeys(decisions)]
    changed = choices.changed()
    if changed:
        changed.update({f"plan.{value}": word for value, word in changed.pop("plan", ())})
        shown = ", ".join(f"{k} = {'on' if v is True else 'off' if v is False else v}" for k, v in changed.items())
        lines.append(f"pinned in {file_of(fn.span.source.name)}: {shown}")
    return "\n".join(lines)


def _structure(stmts: lp.Stmts, depth: int) -> list[str]:
    out: list[str] = []
    pad = "  " * depth
    for s in stmts:
        match s:
            case lp.Chunks():
                name = s.low.name.removesuffix("_lo")
                what = f"; {', '.join(_sum(a) for a in s.accs)} of the pieces combined in a fixed tree" if s.accs else ""
                out.append(f"{pad}{name} of {lp.in_words(s.extent)} in parallel, pieces of at least {s.grain} operations ({lp.in_words(s.work)} for each {name}){what}")
                out += _structure(s.body, depth + 1)
            case lp.Product():
                sums = " by ".join(map(lp.in_words, s.sums))
                out.append(f"{pad}product of {lp.in_words(s.rows)} by {lp.in_words(s.columns)} over {sums} ({s.target.dtype}): the matrix kernel, 12 rows by 2 vectors in registers, in parallel unless inside pieces")
            case lp.For():
                inner = _structure(s.body, depth + 1)
                how = "in any order" if s.parallel else "in order"
                leaf = not any(isinstance(x, (lp.For, lp.Accumulate, lp.Product)) for x in lp.walk(s.body))
                out.append(f"{pad}{_range(s)} {how}{', in vectors' if leaf and s.parallel else ''}")
                out += inner
            case lp.Accumulate():
                names = ", ".join(_sum(a) for a in s.accs)
                leaf = not any(isinstance(x, (lp.For, lp.Accumulate, lp.Product)) for x in lp.walk(s.body))
                how = "left to right" if s.exact else "in lanes" if leaf else "in a tree"
                out.append(f"{pad}{names} over {_range(s)}, {how}")
                out += _structure(s.body, depth + 1)
            case lp.Alloc(buffer):
                out.append(f"{pad}memory for {buffer.shown}: {buffer.dtype}[{', '.join(map(lp.in_words, buffer.extents))}] ({buffer.reason})")
            case lp.CopyBuffer(target, source):
                out.append(f"{pad}copy of {source.shown} to {target.shown}")
            case lp.Helper(name):
                out.append(f"{pad}{name}")
            case lp.If() | lp.Forever():
                for body in lp.bodies(s):
                    out += _structure(body, depth)
    return out


def _range(s: lp.For | lp.Accumulate) -> str:
    """A loop's index and where it runs: from one bound to another, or over the part a thread works on."""
    if repr(s.low).endswith("_lo") and repr(s.high).endswith("_hi"):
        return f"{s.sym} in a piece"
    return f"{s.sym} in {lp.in_words(s.low)}..{lp.in_words(s.high)}"


def _sum(a: lp.Acc) -> str:
    """What is accumulated, as the user calls it, and how."""
    return f"{a.var.label or 'a sum'} by {a.monoid}"
