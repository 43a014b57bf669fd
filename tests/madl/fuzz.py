"""Random MADL programs: what is accepted must run under the oracle without getting stuck, mean the same without memory (meaning.py), and its C must give the same.

    python -m tests.madl.fuzz SEED COUNT [--code EVERY] [--brute]       a long run; prints what was refused and why, and failures

With --brute, programs refused for want of an order are tried in every order of their outermost nodes: none may satisfy the oracle.
"""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import random
import time
import traceback
from typing import Any

from atoll.errors import Error
from atoll.madl import schedule as scheduling
from atoll.madl.library import Library
from atoll.madl.oracle import Oracle, Stuck
from tests.madl.harness import by_code, by_meaning, by_oracle, random_inputs, same

OPERATORS = """
let dot (u of [_]int, v) returns (s): forward ([a]=u)([b]=v) returns (s={t}): t init 0 = last t + a*b end
let add1 (u of [_]int, v) returns (w): forward ([a]=u)([b]=v) returns (w=[c]): c = a + b end
let add2 (u of [_]int at 'l, v) returns (w at 'l): forward ([a]=u)([b]=v) returns (w=[c]): c = a + b end
let nat (x of int) returns (n): n = !last p; p = n + x init 0
let nat_ (x of int) returns (n): n init 0 = last n + x
let keep (x of [4]int) returns (y): y = !last (!x init [4]7)
let rot (a of [4]int at 'l) returns (b at 'l): concat(_, [|e|]) = a; forward ([x]=a) returns (b=[y]): y = !!last (!x init !e) end
let tmp (a of [_]int at 'l) returns (b at 'l): b = !reverse(!a)
let pat (a, b) returns (c): c = reverse(a) ++ b
"""

_PLACES = {"4": ["'l", "'m"], "2": ["'p"], "s": ["'s"], "22": ["'q"]}


class Generator:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = itertools.count()

    def program(self) -> str:
        r = self.rng
        scope: list[tuple[str, str]] = [("a", "4"), ("b", "4"), ("c", "s"), ("t", "b")]
        args = f"a of [4]int{self.at('4', 0.5)}, b of [4]int{self.at('4', 0.2)}, c of int{self.at('s', 0.1)}, t of bool"
        body: list[str] = []
        for _ in range(r.randint(1, 6)):
            self.statement(scope, body, 0)
        plain = [(n, k) for n, k in scope if not n.startswith("last") and k != "b"]
        chosen = r.sample(plain[3:] or plain, min(r.randint(1, 2), len(plain[3:] or plain)))
        results = ", ".join(n + self.at(k, 0.3) for n, k in chosen)
        return f"let f ({args}) returns ({results}):\n  " + ";\n  ".join(body)

    def at(self, kind: str, chance: float) -> str:
        if kind not in _PLACES or self.rng.random() > chance:
            return ""
        place = self.rng.choice(_PLACES[kind])
        if kind == "4" and self.rng.random() < 0.2:
            return f" at reverse({place})"
        return f" at {place}"

    def pick(self, scope: list[tuple[str, str]], kind: str) -> str | None:
        found = [n for n, k in scope if k == kind]
        return self.rng.choice(found) if found else None

    def name(self) -> str:
        return f"x{next(self.names)}"

    def statement(self, scope: list[tuple[str, str]], body: list[str], depth: int) -> None:
        """Add one statement and what it defines."""
        makers = [self.copy, self.view, self.halves, self.build, self.loop, self.fold, self.delay, self.update, self.call, self.scalar]
        if depth < 2:
            makers += [self.block, self.branch, self.triangle, self.matrix, self.loop, self.accumulate, self.rounds]
        self.rng.choice(makers)(scope, body, depth)

    # one method per kind of statement

    def copy(self, scope: Any, body: list[str], depth: int) -> None:
        kind = self.rng.choice(["4", "4", "2", "s", "22"])
        v = self.pick(scope, kind)
        if v is None:
            return
        x = self.name()
        inner = f"reverse({v})" if kind == "4" and self.rng.random() < 0.3 else v
        mark = "!!" if self.rng.random() < 0.2 else "!"
        body.append(f"{x} = {mark}{inner}{self.at(kind, 0.3)}")
        scope.append((x, kind))

    def view(self, scope: Any, body: list[str], depth: int) -> None:
        x, v, m = self.name(), self.pick(scope, "4"), self.pick(scope, "22")
        choices = []
        if v:
            choices += [(f"reverse({v})", "4"), (f"split<<2>>({v})", "22"), (f"{v}.[{self.rng.randrange(4)}]", "s")]
        if m:
            choices += [(f"transpose({m})", "22"), (f"flatten<<2>>({m})", "4"), (f"{m}.[{self.rng.randrange(2)}]", "2")]
        if choices:
            text, kind = self.rng.choice(choices)
            body.append(f"{x} = {text}{self.at(kind, 0.15)}")
            scope.append((x, kind))

    def halves(self, scope: Any, body: list[str], depth: int) -> None:
        v = self.pick(scope, "4")
        x, y, z = self.name(), self.name(), self.name()
        if v is None:
            return
        if self.rng.random() < 0.5:
            body.append(f"concat<<2,2>>({x}, {y}) = {v}")
            scope += [(x, "2"), (y, "2")]
        else:
            body.append(f"[|{x}, {y}|] ++ {z} = {v}")
            scope += [(x, "s"), (y, "s"), (z, "2")]

    def build(self, scope: Any, body: list[str], depth: int) -> None:
        x, u, w = self.name(), self.pick(scope, "2"), self.pick(scope, "2")
        s, t = self.pick(scope, "s"), self.pick(scope, "s")
        if u and w and self.rng.random() < 0.6:
            text = self.rng.choice([f"!{u} ++ !{w}", f"{u} ++ !{w}", f"pat(!{u}, {w})", f"!{u} ++ {w}"])
            body.append(f"{x} = {text}{self.at('4', 0.3)}")
            scope.append((x, "4"))
        elif s and t:
            body.append(f"{x} = [|!{s}, {t} + 1|]{self.at('2', 0.2)}")
            scope.append((x, "2"))

    def scalar(self, scope: Any, body: list[str], depth: int) -> None:
        s, t, x = self.pick(scope, "s"), self.pick(scope, "s"), self.name()
        if s and t:
            c = self.pick(scope, "b")
            text = self.rng.choice([f"{s} + 2*{t}", f"{s} - {t}", f"min({s}, {t})", f"if {c} then {s} else {t} + 1" if c else f"{s} * 3"])
            body.append(f"{x} = {text}{self.at('s', 0.2)}")
            scope.append((x, "s"))
            if self.rng.random() < 0.2:
                y = self.name()
                body.append(f"{y} = {s} < {t}")
                scope.append((y, "b"))

    def loop(self, scope: Any, body: list[str], depth: int) -> None:
        v, w, x = self.pick(scope, "4"), self.pick(scope, "4"), self.name()
        if v is None or w is None:
            return
        s = self.pick(scope, "s")
        index = self.rng.random() < 0.3
        inner: list[str] = []
        names: list[tuple[str, str]] = [("e", "s"), ("f", "s"), *([(s, "s")] if s else [])]
        kind = self.rng.randrange(6)
        if kind == 0:
            inner.append(f"g = e + 2*f{'+ ' + s if s else ''}")
        elif kind == 1:
            inner.append("g = !!last (!e init 0)")
        elif kind == 2:
            inner.append("h init 1 = last h + e; g = !h")
        elif kind == 3 and index:
            inner.append(f"g = {self.rng.choice([v, w])}.[i] + f")
        elif kind == 4 and s:
            inner.append(f"if e > {s} then g = e + 1 else g = f - 1 end")
        else:
            if depth < 1:
                self.statement(names, inner, depth + 1)
            last_scalar = self.pick(names, "s")
            inner.append(f"g = {last_scalar} + f")
        head = "[i] " if index else ""
        body.append(f"forward {head}([e]={v})([f]={w}) returns ({x}=[g]{self.at('4', 0.5)}): {'; '.join(inner)} end")
        scope.append((x, "4"))

    def fold(self, scope: Any, body: list[str], depth: int) -> None:
        v, x = self.pick(scope, "4"), self.name()
        if v:
            reset = self.rng.choice(["end", "end", "resume", "reset t" if ("t", "b") in scope else "end"])
            body.append(f"forward ([e]={v}) returns ({x}={{s}}{self.at('s', 0.1)}): s init 0 += e {reset}")
            scope.append((x, "s"))

    def accumulate(self, scope: Any, body: list[str], depth: int) -> None:
        v, w, x = self.pick(scope, "4"), self.pick(scope, "4"), self.name()
        if v is None or w is None:
            return
        start = self.rng.choice(["[4]0", f"!{w}", w])
        text = self.rng.choice(
            [
                "g = last g with [i] = e + 1",
                f"forward ([p]=last g)([q]={w}) returns (g=[h]): h = p + q*e end",
                "forward <<4>> returns (g=[h]): h = last h + e resume",
                "g = last g with [k] = (last g).[k] + 1; k = wrap<<4>>(e)",
                "g = !last g",
            ]
        )
        body.append(f"forward [i] ([e]={v}) returns ({x}={{g}} init {start}{self.at('4', 0.3)}): {text} end")
        scope.append((x, "4"))

    def triangle(self, scope: Any, body: list[str], depth: int) -> None:
        v, x = self.pick(scope, "4"), self.name()
        if v:
            text = self.rng.choice(["[g] as p", "[g] as p", "reverse([g]) as p"])
            body.append(f"forward ([e]={v}) returns ({x}={text}{self.at('4', 0.2)}): forward ([q]=p) returns (g={{z}}): z init 1 = last z + q*e end end")
            scope.append((x, "4"))

    def matrix(self, scope: Any, body: list[str], depth: int) -> None:
        m, x = self.pick(scope, "22"), self.name()
        if m:
            text = self.rng.choice(["[[g]]", "transpose([[g]])" if self.rng.random() < 0.5 else "[[g]]"])
            body.append(f"forward [i], [j] ([[e]]={m}) returns ({x}={text}{self.at('22', 0.3)}): g = e + i - j end")
            scope.append((x, "22"))

    def delay(self, scope: Any, body: list[str], depth: int) -> None:
        v, s, x = self.pick(scope, "4"), self.pick(scope, "s"), self.name()
        if self.rng.random() < 0.5 and v:
            body.append(f"{x} init [4]0 = !{v}{self.at('4', 0.2)}")
            scope += [(f"last {x}", "4"), (x, "4")]
        elif s:
            body.append(f"{x} init 0 = {self.rng.choice([f'last {x} + {s}', f'!{s}'])}{self.at('s', 0.2)}")
            scope += [(f"last {x}", "s"), (x, "s")]

    def update(self, scope: Any, body: list[str], depth: int) -> None:
        v, s, x = self.pick(scope, "4"), self.pick(scope, "s"), self.name()
        if v is None or s is None:
            return
        if self.rng.random() < 0.5:
            body.append(f"{x} = {v} with [{self.rng.randrange(4)}] = {self.rng.choice(['!' + s, s + ' + 1', s])}{self.at('4', 0.2)}")
        else:
            k = self.name()
            body.append(f"{k} = {self.rng.choice(['clamp', 'wrap'])}<<4>>({s})")
            value = self.rng.choice([f"!{s}", f"{v}.[{k}] + {s}", f"{s} + {k}"])
            body.append(f"{x} = {v} with [{k}] = {value}{self.at('4', 0.2)}")
        scope.append((x, "4"))

    def call(self, scope: Any, body: list[str], depth: int) -> None:
        v, w, s, x = self.pick(scope, "4"), self.pick(scope, "4"), self.pick(scope, "s"), self.name()
        choices = []
        if v and w:
            choices += [(f"dot({v}, {w})", "s"), (f"add1({v}, {w})", "4"), (f"add2({v}, {w})", "4"), (f"add2(!{v}, {w})", "4")]
            choices += [(f"keep({v})", "4"), (f"rot({v})", "4"), (f"rot(!{v})", "4"), (f"dot({v}, reverse({w}))", "s")]
            choices += [(f"tmp({v})", "4"), (f"reverse(add1(reverse({v}), {w}))", "4")]
        if s:
            choices += [(f"nat({s})", "s"), (f"nat_({s})", "s")]
        if choices:
            text, kind = self.rng.choice(choices)
            body.append(f"{x} = {text}{self.at(kind, 0.2)}")
            scope.append((x, kind))

    def rounds(self, scope: Any, body: list[str], depth: int) -> None:
        """A loop that runs as often as a value says: a sum, or elements that are replaced."""
        v, s, x, k, i = self.pick(scope, "4"), self.pick(scope, "s"), self.name(), self.name(), self.name()
        if v is None or s is None:
            return
        body.append(f"{k} = {self.rng.choice(['clamp', 'wrap'])}<<4>>({s})")
        close = self.rng.choice(["end", "end", "resume"])
        if self.rng.random() < 0.5:
            t = self.name()
            body.append(f"forward <<{k}>> [{i}] returns ({x} = {{{t}}}): {t} init 1 = last {t} + {v}.[{i}]*{i} {close}")
            scope.append((x, "s"))
        else:
            t = self.name()
            body.append(f"forward <<{k}>> [{i}] returns ({x}{self.at('4', 0.2)} = {{{t}}} init [4]3): {t} = last {t} with [{i}] = {v}.[{i}] + {s} {close}")
            scope.append((x, "4"))

    def block(self, scope: Any, body: list[str], depth: int) -> None:
        inner_scope = [(n, k) for n, k in scope if not n.startswith("last")]
        known = len(inner_scope)
        inner: list[str] = []
        for _ in range(self.rng.randint(1, 2)):
            self.statement(inner_scope, inner, depth + 1)
        new = [(n, k) for n, k in inner_scope[known:] if not n.startswith("last") and k in "4s2"]
        if not new:
            return
        n, k = self.rng.choice(new)
        x = self.name()
        t = self.pick(scope, "b")
        close = self.rng.choice(["end", "resume", "restart", f"reset {t}" if t else "end"])
        body.append(f"block returns ({x}{self.at(k, 0.2)} = {n}): {'; '.join(inner)} {close}")
        scope.append((x, k))

    def branch(self, scope: Any, body: list[str], depth: int) -> None:
        t = self.pick(scope, "b")
        kind = self.rng.choice(["4", "s"])
        v, w, x = self.pick(scope, kind), self.pick(scope, kind), self.name()
        if t is None or v is None or w is None:
            return
        sides = []
        for value in (v, w):
            inner: list[str] = []
            names = [(n, k) for n, k in scope if not n.startswith("last")]
            known = len(names)
            if self.rng.random() < 0.4:
                self.statement(names, inner, depth + 1)
            new = [n for n, k in names[known:] if k == kind and not n.startswith("last")]
            source = self.rng.choice(new) if new else value
            if kind == "4":
                inner.append(f"{x} = {self.rng.choice(['!' + source, source, f'add1({source}, a)'])}")
            else:
                inner.append(f"{x} = {self.rng.choice(['!' + source, source + ' + 1', source, f'last {x} + 1'])}")
            sides.append("; ".join(inner))
        text = f"if {t} then {sides[0]} else {sides[1]} end"
        if f"last {x}" in text:
            body.append(f"{x} init {'[4]0' if kind == '4' else '0'}")
        body.append(text)
        scope.append((x, kind))


class Symbolic(Generator):
    """The same with arrays of size n, which only the caller knows."""

    def program(self) -> str:
        text = super().program()
        return text.replace("let f (", "let f <<n>> (").replace("[4]", "[n]").replace("<<4>>", "<<n>>")

    def statement(self, scope: list[tuple[str, str]], body: list[str], depth: int) -> None:
        makers = [self.copy, self.ends, self.loop, self.fold, self.delay, self.set, self.call, self.scalar]
        if depth < 2:
            makers += [self.block, self.branch, self.triangle, self.loop, self.accumulate, self.rounds]
        self.rng.choice(makers)(scope, body, depth)

    def ends(self, scope: Any, body: list[str], depth: int) -> None:
        """The first or last element, the rest, and another array of them."""
        v, s = self.pick(scope, "4"), self.pick(scope, "s")
        x, y, z = self.name(), self.name(), self.name()
        if v is None or s is None:
            return
        first = self.rng.random() < 0.5
        body.append(f"[|{x}|] ++ {y} = {v}" if first else f"{y} ++ [|{x}|] = {v}")
        scope.append((x, "s"))
        if self.rng.random() < 0.7:
            value = self.rng.choice([f"!{s}", f"{s} + 1", s])
            rest = self.rng.choice([y, f"!{y}"])
            side = self.rng.random() < 0.5
            body.append(f"{z} = " + (f"[|{value}|] ++ {rest}" if side else f"{rest} ++ [|{value}|]") + self.at("4", 0.3))
            scope.append((z, "4"))

    def set(self, scope: Any, body: list[str], depth: int) -> None:
        v, s, x, k = self.pick(scope, "4"), self.pick(scope, "s"), self.name(), self.name()
        if v is None or s is None:
            return
        body.append(f"{k} = {self.rng.choice(['clamp', 'wrap'])}<<4>>({s})")
        body.append(f"{x} = {v} with [{k}] = {self.rng.choice([f'!{s}', f'{v}.[{k}] + {s}', f'{s} + {k}'])}{self.at('4', 0.2)}")
        scope.append((x, "4"))


@functools.cache
def base(symbolic: bool = False) -> Library:
    """The operators that random programs may use."""
    return Library(OPERATORS.replace("[4]", "[_]") if symbolic else OPERATORS)


def run_one(source: str, seed: int, code: bool) -> tuple[str, Any]:
    """What became of a program: ok, a refusal, or a failure with its story."""
    symbolic = source.startswith("let f <<n>>")
    try:
        library = Library(source, base=base(symbolic))
        op = library.operators["f"]
    except Error as error:
        return f"refused {error.code}", error
    except RecursionError:
        return "CRASH recursion", traceback.format_exc()
    except Exception:  # noqa: BLE001  a crash of the compiler is what we look for
        return "CRASH", traceback.format_exc()
    rng = random.Random(seed)
    sizes = {sym: rng.randint(1, 5) for sym in op.graph.sizes}
    if any(p.evaluate(sizes) < 0 for p, _, _ in op.graph.requirements):
        return "ok but not at these sizes", op
    inputs = random_inputs(op, sizes, rng, 3)
    try:
        wanted = by_oracle(op, sizes, inputs)
    except Stuck as stuck:
        return "STUCK", str(stuck)
    except Exception:  # noqa: BLE001
        return "CRASH oracle", traceback.format_exc()
    try:
        meant = by_meaning(library, op, sizes, inputs, wanted)
    except Exception:  # noqa: BLE001
        return "CRASH meaning", traceback.format_exc()
    if not same(meant, wanted):
        return "MEANS ANOTHER", f"{meant}\n{wanted}"
    if code:
        try:
            found = by_code(op, sizes, inputs)
        except Exception:  # noqa: BLE001
            return "CRASH code", traceback.format_exc()
        if not same(found, wanted):
            return "DIFFERS", f"{found}\n{wanted}"
        return "ok with code", op
    return "ok", op


def brute_force(source: str, seed: int) -> bool:
    """True when some order of the outermost nodes satisfies the oracle although none was found."""
    found: list[Any] = []
    original = scheduling._Problem.solve

    def lenient(problem: Any) -> Any:
        try:
            return original(problem)
        except Error:
            found.append(problem.scope)
            return scheduling.Order(problem.nodes, list(problem.nodes), frozenset())

    scheduling._Problem.solve = lenient  # type: ignore[method-assign]
    try:
        op = Library(source, base=base()).operators["f"]
    except Error:
        return False
    finally:
        scheduling._Problem.solve = original  # type: ignore[method-assign]
    if len(found) != 1 or found[0] is not op.graph.body or len(op.graph.body.nodes) > 6:
        return False
    rng = random.Random(seed)
    inputs = random_inputs(op, {}, rng, 3)
    for order in itertools.permutations(op.graph.body.nodes):
        oracle = Oracle(op, {})
        oracle.sequences[op.graph.body] = list(order)
        try:
            oracle.run(inputs)
        except Stuck:
            continue
        return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--code", type=int, default=0, help="also compile every n-th accepted program")
    parser.add_argument("--brute", action="store_true")
    parser.add_argument("--symbolic", action="store_true", help="arrays of size n")
    args = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    failures = []
    began = time.time()
    for k in range(args.count):
        seed = args.seed * 1_000_003 + k
        source = (Symbolic if args.symbolic else Generator)(random.Random(seed)).program()
        outcome, story = run_one(source, seed, bool(args.code) and k % args.code == 0)
        counts[outcome] += 1
        if outcome.isupper() or outcome.split()[0].isupper():
            failures.append((seed, outcome, source, story))
        if args.brute and outcome == "refused E0940" and brute_force(source, seed):
            counts["an order exists"] += 1
            failures.append((seed, "an order exists", source, story))
    print(dict(counts.most_common()), f"{time.time() - began:.1f} s")
    for seed, outcome, source, story in failures[:8]:
        print(f"--- {outcome} (seed {seed})\n{source}\n{story}")


if __name__ == "__main__":
    main()
