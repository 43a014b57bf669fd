"""Finding loops and values by name. A selector is a path of names, outermost first, gaps allowed: `y_o/x_i`, `bx`, `t.x`.

Loops are named by the user's comprehension variables; `split` of y makes y_o and y_i, a tail is y_t, the parts of a partition are y_0,
y_1, ...; `y_1#2` is the second of several y_1 in the text; loops that fill a buffer t are t.y, t.x. The loops of a value are reached through it (`bx/y`) when others have the same
name. A selector must mean one loop or value (the one whose whole path it is, if there are several), else the choices are listed. It is resolved to
the binder at once: primitives of several steps follow the binder, not the name.
"""

from __future__ import annotations

from collections.abc import Iterator

from atoll.schedule import term as tm
from atoll.schedule.kernel import Unnamed
from atoll.sizes import Sym

Found = list[tuple[tm.Path, tm.Term, tuple[str, ...]]]
Binder = tm.Gen | tm.Sum | tm.Let | tm.Nest


def binders(t: tm.Term, path: tm.Path = (), around: tuple[str, ...] = ()) -> Iterator[tuple[tm.Path, tm.Term, tuple[str, ...]]]:
    """Every loop and let with its position and the names around it."""
    own: str | None = None
    if isinstance(t, (tm.Gen, tm.Sum)):
        own = t.sym.name
    elif isinstance(t, tm.Let):
        own = t.name.name
    elif isinstance(t, tm.Nest) and t.names:
        own = t.names[0].name
    if own is not None:
        yield path, t, (*around, own)
    for k, inner in enumerate(tm.kids(t)):
        # a let's name is around what it binds, not around its body: loops of the body are not inside the value
        outer = around if own is None or (isinstance(t, tm.Let) and k == 1) or isinstance(t, tm.Nest) else (*around, own)
        yield from binders(inner, (*path, k), outer)


def values_around(t: tm.Term, path: tm.Path) -> list[str]:
    """The values inside whose definitions a position is."""
    found = []
    for k in path:
        if isinstance(t, tm.Let) and k == 0:
            found.append(t.name.name)
        t = tm.kids(t)[k]
    return found


def matches(names: tuple[str, ...], wanted: list[str]) -> bool:
    """True when the last names agree and the others occur before it in order."""
    if names[-1] != wanted[-1]:
        return False
    rest = iter(names[:-1])
    return all(any(name == part for name in rest) for part in wanted[:-1])


def find(t: tm.Term, selector: str, loops: bool) -> tuple[tm.Path, tm.Term]:
    """The one loop (or value) a selector means."""
    kinds = (tm.Gen, tm.Sum) if loops else (tm.Let, tm.Nest)
    path_text, _, ordinal = selector.partition("#")
    wanted = path_text.split("/")
    everything: Found = [(path, u, names) for path, u, names in binders(t) if isinstance(u, kinds)]
    found = [(path, u) for path, u, names in everything if matches(names, wanted)]
    if ordinal.isdigit():
        found = found[int(ordinal) - 1 : int(ordinal)] if int(ordinal) else []
    elif len(found) > 1:  # a loop inside another value is meant only when that value is named, or nothing else is
        direct = [(path, u) for path, u in found if all(name in wanted for name in values_around(t, path))]
        found = direct or found
        whole = [(path, u) for path, u, names in everything if list(names) == wanted]
        found = whole if len(found) > 1 and len(whole) == 1 else found
    if len(found) == 1:
        return found[0]
    what = "loop" if loops else "value"
    choices = listing(everything)
    listed = f"{what}s here: {', '.join(choices)}" if choices else f"there are no {what}s here"
    problem = f"is not the name of a {what}" if not found else f"means {len(found)} {what}s"
    raise Unnamed(selector, problem, listed)


def listing(everything: Found) -> list[str]:
    """A selector for each, as short as it can be."""
    texts = ["/".join(_short(names, everything)) for _, _, names in everything]
    shown = []
    for k, text in enumerate(texts):
        matching = [n for n, (_, _, names) in enumerate(everything) if matches(names, text.split("/"))]
        shown.append(f"{text}#{matching.index(k) + 1}" if texts.count(text) > 1 else text)
    return shown


def _short(names: tuple[str, ...], everything: Found) -> tuple[str, ...]:
    """The shortest path of names that means only this one, if there is one."""
    for n in range(1, len(names) + 1):
        tail = names[-n:]
        if sum(matches(other, list(tail)) for _, _, other in everything) == 1:
            return tail
    return names


def path_of(t: tm.Term, binder: Sym | tm.Tensor) -> tm.Path | None:
    """Where a loop or value is now."""
    for path, u in tm.walk(t):
        if (isinstance(u, (tm.Gen, tm.Sum)) and u.sym is binder) or (isinstance(u, tm.Let) and u.name is binder) or (isinstance(u, tm.Nest) and binder in u.names):
            return path
    return None
