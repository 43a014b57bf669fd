"""A little typed functional language for tests, turned into λANF: programs are nested tuples.

    e ::= 3 | "x" | (op, e, e) | ("let", x, e, e) | ("if", e, e, e) | ("app", e, e...) | ("lam", [(x, t)...], t, e)
        | ("rec", [(f, [(x, t)...], t, e)...], e) | ("nil",) | ("cons", e, e) | ("case", e, e, (h, t), e)
    t ::= "int" | "bool" | "list" | ("fn", (t...), t)

`curried` makes every function take its parameters one at a time, as CertiCoq's source does.
"""

from __future__ import annotations

import random
from typing import Any

from atoll.functions import ir
from atoll.functions.operators import scalar

LIST = ir.DataType("list", Nil=(), Cons=("i64", "data"))
NIL, CONS = LIST.constructors
REP = {"int": "i64", "bool": "bool", "list": "data"}
OPS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "^": "xor", "<": "lt", "<=": "le", "=": "eq"}


def rep(t: Any) -> str:
    return REP.get(t, "data") if isinstance(t, str) else "data"


class _Builder:
    """Binds under construction. A join moves on to a fresh list whose block is the join's body."""

    def __init__(self) -> None:
        self.binds: list[Any] = []
        self.open: list[tuple[list[Any], Any, ir.Term]] = []

    def add(self, bind: Any) -> None:
        self.binds.append(bind)

    def join(self, name: ir.Var, params: ir.Vars, case: ir.Term) -> None:
        self.open.append((self.binds, (name, params), case))
        self.binds = []

    def close(self, term: ir.Term) -> ir.Block:
        block = ir.Block(tuple(self.binds), term)
        for binds, (name, params), case in reversed(self.open):
            block = ir.Block((*binds, ir.Join(name, params, block)), case)
        return block


class Little:
    def __init__(self, curried: bool) -> None:
        self.curried = curried

    def program(self, e: Any) -> ir.Program:
        b = _Builder()
        x, t = self.expr(e, {}, b)
        return ir.Program(b.close(ir.Ret((x,))), (rep(t),))

    def expr(self, e: Any, env: dict[str, Any], b: _Builder) -> tuple[ir.Var, Any]:
        if isinstance(e, int):
            x = ir.Var("k", "i64")
            b.add(ir.Literal(x, e))
            return x, "int"
        if isinstance(e, str):
            return env[e]
        head, *rest = e
        if head in OPS:
            args = [self.expr(a, env, b)[0] for a in rest]
            t = "bool" if head in ("<", "<=", "=") else "int"
            x = ir.Var("v", rep(t))
            b.add(ir.Op((x,), scalar(OPS[head], "i64"), tuple(args)))
            return x, t
        return getattr(self, f"_{head}")(rest, env, b)

    def _nil(self, rest: Any, env: Any, b: _Builder) -> Any:
        x = ir.Var("nil")
        b.add(ir.Make(x, NIL, ()))
        return x, "list"

    def _cons(self, rest: Any, env: Any, b: _Builder) -> Any:
        args = tuple(self.expr(a, env, b)[0] for a in rest)
        x = ir.Var("cons")
        b.add(ir.Make(x, CONS, args))
        return x, "list"

    def _let(self, rest: Any, env: Any, b: _Builder) -> Any:
        name, value, body = rest
        return self.expr(body, {**env, name: self.expr(value, env, b)}, b)

    def _app(self, rest: Any, env: Any, b: _Builder) -> Any:
        f, t = self.expr(rest[0], env, b)
        args = [self.expr(a, env, b)[0] for a in rest[1:]]
        groups = [(a,) for a in args] if self.curried else [tuple(args)]
        types = t[1]
        result = t[2]
        for k, group in enumerate(groups):
            last = k == len(groups) - 1
            x = ir.Var("r", rep(result) if last else "data")
            b.add(ir.Call((x,), f, group))
            f = x
        assert len(types) == len(args)
        return f, result

    def _fun(self, name: ir.Var, params: Any, result: Any, body: Any, env: Any) -> ir.Fun:
        xs = [ir.Var(n, rep(t)) for n, t in params]
        inner = {**env, **{n: (x, t) for x, (n, t) in zip(xs, params, strict=True)}}
        b = _Builder()
        v, _ = self.expr(body, inner, b)
        block = self._tail(b.close(ir.Ret((v,))))
        if not self.curried or len(xs) <= 1:
            return ir.Fun(name, tuple(xs), block, (rep(result),))
        results: tuple[str, ...] = (rep(result),)
        for x in reversed(xs[1:]):
            g = ir.Var(name.name, "data")
            block = ir.Block((ir.Funs((ir.Fun(g, (x,), block, results),)),), ir.Ret((g,)))
            results = ("data",)
        return ir.Fun(name, (xs[0],), block, results)

    def _tail(self, block: ir.Block) -> ir.Block:
        """A last call whose result is returned is a tail call."""
        if block.binds and isinstance(block.term, ir.Ret) and isinstance(block.binds[-1], ir.Call):
            last = block.binds[-1]
            if last.results == block.term.values:
                return ir.Block(block.binds[:-1], ir.Tail(last.fn, last.args))
        return block

    def _lam(self, rest: Any, env: Any, b: _Builder) -> Any:
        params, result, body = rest
        f = ir.Var("lam", "data")
        b.add(ir.Funs((self._fun(f, params, result, body, env),)))
        return f, ("fn", tuple(t for _, t in params), result)

    def _rec(self, rest: Any, env: Any, b: _Builder) -> Any:
        defs, body = rest
        env = dict(env)
        for name, params, result, _ in defs:
            env[name] = (ir.Var(name, "data"), ("fn", tuple(t for _, t in params), result))
        b.add(ir.Funs(tuple(self._fun(env[n][0], params, result, e, env) for n, params, result, e in defs)))
        return self.expr(body, env, b)

    def _branches(self, arms: list[Any], value: ir.Var, b: _Builder) -> Any:
        """arms: (constructor, names, body, env)."""
        made = []
        t: Any = None
        join, x = ir.Var("j", "code"), ir.Var("x")
        for con, fields, body, env in arms:
            inner = _Builder()
            for k, (field, ft) in enumerate(fields):
                v = ir.Var(field, rep(ft))
                inner.add(ir.Take(v, value, con, k))
                env = {**env, field: (v, ft)}
            v, t = self.expr(body, env, inner)
            made.append((con, inner.close(ir.Jump(join, (v,)))))
        x.rep = rep(t)
        b.join(join, (x,), ir.Case(value, tuple(made)))
        return x, t

    def _if(self, rest: Any, env: Any, b: _Builder) -> Any:
        test, _ = self.expr(rest[0], env, b)
        return self._branches([(ir.TRUE, [], rest[1], env), (ir.FALSE, [], rest[2], env)], test, b)

    def _case(self, rest: Any, env: Any, b: _Builder) -> Any:
        value, nil, (h, t), cons = rest
        x, _ = self.expr(value, env, b)
        return self._branches([(NIL, [], nil, env), (CONS, [(h, "int"), (t, "list")], cons, env)], x, b)


F1 = ("fn", ("int",), "int")
F2 = ("fn", ("int", "int"), "int")


class RandomPrograms:
    """Random terminating programs: closures, recursion with a falling counter, case, functions in and out of functions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def name(self, base: str) -> str:
        self.count += 1
        return f"{base}{self.count}"

    def program(self, depth: int = 5) -> Any:
        return self.expr(self.random.choice(["int", "list"]), [], depth)

    def leaf(self, t: Any, env: list[Any]) -> Any:
        r = self.random
        known = [n for n, u in env if u == t]
        if known and r.random() < 0.7:
            return r.choice(known)
        if t == "int":
            return r.randint(-3, 9)
        if t == "list":
            return ("nil",) if r.random() < 0.5 else ("cons", r.randint(0, 5), ("nil",))
        if t == "bool":
            return ("<", self.leaf("int", env), self.leaf("int", env))
        params = [(self.name("x"), u) for u in t[1]]
        return ("lam", params, t[2], self.leaf(t[2], env + params))

    def expr(self, t: Any, env: list[Any], d: int) -> Any:
        r = self.random
        if d <= 0:
            return self.leaf(t, env)
        c = r.random()
        if c < 0.12:
            u = r.choice(["int", "int", "list", F1, F2])
            x = self.name("x")
            return ("let", x, self.expr(u, env, d - 1), self.expr(t, [*env, (x, u)], d - 1))
        if c < 0.2:
            return ("if", self.expr("bool", env, d - 1), self.expr(t, env, d - 1), self.expr(t, env, d - 1))
        if c < 0.3:
            h, tl = self.name("h"), self.name("t")
            inner = [*env, (h, "int"), (tl, "list")]
            return ("case", self.expr("list", env, d - 1), self.expr(t, env, d - 1), (h, tl), self.expr(t, inner, d - 1))
        if c < 0.42:
            return self.recursion(t, env, d)
        if c < 0.55 and t == "int":
            f = r.choice([F1, F1, F2])
            return ("app", self.expr(f, env, d - 1), *(self.expr("int", env, d - 1) for _ in f[1]))
        if c < 0.6 and t == "int":  # a second-order function, recursive in the first order
            g, n, f = self.name("g"), self.name("n"), self.name("f")
            z = self.name("z")
            passed = f if r.random() < 0.5 else ("lam", [(z, "int")], "int", ("+", n, ("app", f, z)))  # the same, or another each time
            body = ("if", ("<=", n, 0), ("app", f, 1), ("app", f, ("app", g, passed, ("-", n, 1))))
            given = self.expr(F1, env, d - 1)
            return ("rec", [(g, [(f, F1), (n, "int")], "int", body)], ("app", g, given, r.randint(0, 3)))
        if t == "int":
            return (r.choice("+-*&^"), self.expr("int", env, d - 1), self.expr("int", env, d - 1))
        if t == "bool":
            return (r.choice(["<", "<=", "="]), self.expr("int", env, d - 1), self.expr("int", env, d - 1))
        if t == "list":
            return ("cons", self.expr("int", env, d - 1), self.expr("list", env, d - 1))
        params = [(self.name("x"), u) for u in t[1]]
        return ("lam", params, t[2], self.expr(t[2], env + params, d - 1))

    def recursion(self, t: Any, env: list[Any], d: int) -> Any:
        r = self.random
        fs = [self.name("f") for _ in range(r.choice([1, 1, 2]))]
        type_ = ("fn", ("int", "int"), t)
        defs = []
        for f in fs:
            n, a, q = self.name("n"), self.name("a"), self.name("q")
            inner = [*env, (n, "int"), (a, "int")]
            again = ("app", r.choice(fs), ("-", n, 1), self.expr("int", inner, d - 2))
            step = ("let", q, again, self.expr(t, [*inner, (q, t)], d - 2)) if r.random() < 0.6 else again
            defs.append((f, [(n, "int"), (a, "int")], t, ("if", ("<=", n, 0), self.expr(t, inner, d - 2), step)))
        use = ("app", fs[0], r.randint(0, 4), self.expr("int", env, d - 1))
        if r.random() < 0.3 and t == "int":  # the function escapes
            h = self.name("h")
            use = ("app", ("lam", [(h, type_)], t, ("app", h, r.randint(0, 3), 1)), fs[0])
        return ("rec", defs, use)


def random_program(seed: int, depth: int = 5, curried: bool = True) -> ir.Program:
    return Little(curried).program(RandomPrograms(seed).program(depth))
