"""The checker's own rules: each recomputes what a step must give and compares, up to the names of binders, with what the certificate says.

Side conditions are looked up in the table of proofs under the hypotheses found at the position. `simplify` has no rule of its own: it is followed
(follow.py).
"""

from __future__ import annotations

from typing import Any

from atoll.check.blocks import Blocks
from atoll.check.sums import (
    ONE,
    ZERO,
    Poly,
    Rejected,
    add,
    ceil,
    const,
    div,
    free,
    mod,
    mul,
    need,
    sub,
    subst,
    var,
)
from atoll.check.terms import (
    BODY,
    PADS,
    VIEWS,
    Env,
    Term,
    alike,
    below,
    bound,
    element,
    fresh,
    guard,
    kids,
    may_skip,
    mentions,
    refresh,
    set_vars,
    shape,
    uses,
    with_kids,
)

WRAPPED = {"transpose": "transpose", "reverse": "reverse", "pad_r": "trunc_r", "pad_l": "trunc_l"}


class Rules(Blocks):
    """A method per rule: from the old term and what the step says, the new one."""

    def step(self, rule: str, env: Env, t: Term, args: dict[str, Any], new: Term) -> set[str]:
        """Check one step; the licences it needs."""
        self.licences = set()
        if rule == "simplify":
            need(self.follow(t, new, env), "simplify: the new term does not follow")
            return self.licences
        method = getattr(self, f"rule_{rule}", None)
        need(method is not None, "no rule", rule)
        given = {k: self.argument(v) for k, v in args.items()}
        made = method(env, t, new, **given)  # type: ignore[misc]
        need(alike(made, new, {}), rule, "gives something else")
        return self.licences

    def argument(self, x: Any) -> Any:
        if isinstance(x, dict):
            return self.t.poly(x["p"]) if "p" in x else x["x"]
        return tuple(self.argument(y) for y in x) if isinstance(x, list) else x

    def only_add(self, t: Term) -> None:
        need(t[0] not in ("sum", "plus") or t[-1] == "add", "pads are not neutral")

    # -- loops

    def rule_gen_cut(self, env: Env, t: Term, new: Term, at: Poly, names: Any = None) -> Term:
        need(t[0] == "gen")
        return ("cat", 0, *self.cut(env, t, at))

    def rule_sum_cut(self, env: Env, t: Term, new: Term, at: Poly, names: Any = None) -> Term:
        need(t[0] == "sum")
        return ("plus", *self.cut(env, t, at), t[5])

    def cut(self, env: Env, t: Term, at: Poly) -> tuple[Term, Term]:
        self.ge(env, sub(at, t[2]))
        self.ge(env, sub(t[3], at))
        return (t[0], t[1], t[2], at, *t[4:]), refresh((t[0], t[1], at, t[3], *t[4:]))

    def rule_loop_flat(self, env: Env, t: Term, new: Term, count: Poly, size: Poly, names: Any = None) -> Term:
        need(t[0] in ("gen", "sum"))
        self.ge(env, sub(size, ONE))
        self.ge(env, count)
        self.eq(env, sub(t[3], t[2]), mul(count, size))
        o, r = fresh(), fresh()
        body = set_vars(t[4], {t[1]: add(t[2], add(mul(var(o), size), var(r)))})
        made = (t[0], o, ZERO, count, (t[0], r, ZERO, size, body, *t[5:]), *t[5:])
        return ("view", "flatten", 0, None, made) if t[0] == "gen" else made

    def rule_loop_join(self, env: Env, t: Term, new: Term, name: Any = None) -> Term:
        need(t[0] in ("gen", "sum") and t[4][0] == t[0] and t[2] == ZERO and t[4][2] == ZERO and t[5:] == t[4][5:])
        inner = t[4]
        k = inner[3]
        need(t[1] not in free(k))
        self.ge(env, sub(k, ONE))
        self.ge(env, t[3])
        q = fresh()
        body = set_vars(inner[4], {t[1]: div(var(q), k), inner[1]: mod(var(q), k)})
        made = (t[0], q, ZERO, mul(t[3], k), body, *t[5:])
        return ("view", "split", 0, k, made) if t[0] == "gen" else made

    def rule_loop_trunc(self, env: Env, t: Term, new: Term, amount: Poly) -> Term:
        need(t[0] in ("gen", "sum"))
        self.only_add(t)
        self.ge(env, amount)
        made = (t[0], t[1], t[2], add(t[3], amount), guard((below(var(t[1]), t[3]),), t[4]), *t[5:])
        return ("view", "trunc_r", 0, amount, made) if t[0] == "gen" else made

    def rule_loop_shift(self, env: Env, t: Term, new: Term, by: Poly | None = None) -> Term:
        need(t[0] in ("gen", "sum"))
        d = t[2] if by is None else by
        return (t[0], t[1], sub(t[2], d), sub(t[3], d), set_vars(t[4], {t[1]: add(var(t[1]), d)}), *t[5:])

    def rule_exchange_range(self, env: Env, t: Term, new: Term, low: Poly, high: Poly) -> Term:
        need(t[0] == "sum" and t[4][0] == "guard" and t[1] not in free(low) | free(high))
        self.only_add(t)
        i, conds = var(t[1]), t[4][1]
        wanted = (sub(i, low), below(i, high))
        need(all(w in conds for w in wanted))
        rest = tuple(c for c in conds if c not in wanted)
        return ("sum", t[1], low, high, guard((sub(i, t[2]), below(i, t[3]), *rest), t[4][2]), t[5])

    def rule_sum_one(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "sum" and sub(t[3], t[2]) == ONE and env.folding in (None, t[5]))
        if env.folding is None and t[5] == "add":
            self.licence("signed-zero", env, t)
        return set_vars(t[4], {t[1]: t[2]})

    def rule_swap(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] in ("gen", "sum") and t[4][0] in ("gen", "sum"))
        inner = t[4]
        need(t[1] not in free(inner[2]) | free(inner[3]))
        made = (*inner[:4], (*t[:4], inner[4], *t[5:]), *inner[5:])
        if t[0] == inner[0] == "sum":
            need(t[5] == inner[5])
            self.licence("reassociate", env, t)
        return ("view", "transpose", 0, None, made) if t[0] == inner[0] == "gen" else made

    def rule_float_out(self, env: Env, t: Term, new: Term, keep: str = "left") -> Term:
        need(t[0] in ("gen", "sum", "guard") or (t[0] == "let" and t[4] is None))
        inner, deeper = t[BODY[t[0]]], int(t[0] == "gen")

        def around(body: Term) -> Term:
            return with_kids(t, (t[2], body) if t[0] == "let" else (body,))

        match inner[0]:
            case "view":
                if inner[1] in PADS:
                    self.only_add(t)
                return ("view", inner[1], inner[2] + deeper, inner[3], around(inner[4]))
            case "cat":
                return ("cat", inner[1] + deeper, around(inner[2]), refresh(around(inner[3])))
            case "plus":
                if t[0] == "sum":
                    need(t[5] == inner[3])
                    self.licence("reassociate", env, t)
                elif t[0] == "guard":
                    self.only_add(inner)
                return ("plus", around(inner[1]), refresh(around(inner[2])), inner[3])
            case "guard":
                self.only_add(t)
                need(t[0] in ("guard", "let") or all(t[1] not in free(c) for c in inner[1]))
                return guard(inner[1], around(inner[2]))
        raise Rejected("float_out: nothing to move")

    def rule_float_in(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] in ("cat", "plus"))
        a, b = kids(t)
        need(a[0] == b[0] and a[0] in ("gen", "sum") and a[5:] == b[5:])
        self.eq(env, a[2], b[2])
        self.eq(env, a[3], b[3])
        other = set_vars(b[4], {b[1]: var(a[1])})
        if t[0] == "cat":
            axis = t[1] - int(a[0] == "gen")
            need(axis >= 0)
            return (*a[:4], ("cat", axis, a[4], other), *a[5:])
        if a[0] == "sum":
            need(a[5] == t[3])
            self.licence("reassociate", env, t)
        return (*a[:4], ("plus", a[4], other, t[3]), *a[5:])

    def rule_distribute(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "op" and t[1] == "mul")
        self.licence("reassociate", env, t)
        for k in (0, 1):
            inner = t[2][k]
            if inner[0] == "sum" and inner[5] == "add":
                args = (inner[4], t[2][1]) if k == 0 else (t[2][0], inner[4])
                return (*inner[:4], ("op", "mul", args, t[3]), "add")
        raise Rejected("distribute: no sum")

    # -- guards, views, roundings

    def rule_guard_in(self, env: Env, t: Term, new: Term, bound: bool = False) -> Term:
        need(t[0] == "guard" and t[2][0] in ("gen", "sum", "view", "cat", "plus", "let", "choose"))
        inner = t[2]
        self.only_add(inner)
        parts = kids(inner)
        if inner[0] == "let":
            return with_kids(inner, (guard(t[1], parts[0]) if bound else parts[0], guard(t[1], parts[1])))
        n = 2 if inner[0] == "choose" else len(parts)
        return with_kids(inner, tuple(guard(t[1], k) if i < n else k for i, k in enumerate(parts)))

    def rule_guard_mul(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "op" and t[1] in ("mul", "mulacc"))
        conds = tuple(dict.fromkeys(c for a in t[2] if a[0] == "guard" for c in a[1]))
        need(conds)
        self.licence("finite", env, t)
        return guard(conds, ("op", t[1], tuple(a[2] if a[0] == "guard" else a for a in t[2]), t[3]))

    def rule_expand(self, env: Env, t: Term, new: Term, names: Any = ()) -> Term:
        need(env.folding in (None, "add") or not may_skip(t))
        extents = shape(t, env.shapes)
        syms = [fresh() for _ in extents]
        made = element(refresh(t), tuple(var(s) for s in syms), env.shapes)
        for s, n in zip(reversed(syms), reversed(extents), strict=True):
            self.ge(env, n)
            made = ("gen", s, ZERO, n, made)
        return made

    def rule_wrap(self, env: Env, t: Term, new: Term, op: str, axis: int, amount: Poly | None = None) -> Term:
        extents = shape(t, env.shapes)
        need(op in VIEWS and 0 <= axis <= len(extents) - VIEWS[op][0] and VIEWS[op][2] == (amount is not None) and env.folding in (None, "add"))
        inner = ("view", op, axis, amount, t)
        k = amount if amount is not None else ZERO
        if amount is not None:
            self.ge(env, sub(k, ONE) if op in ("split", "tile") else k)
        n = extents[axis]
        match op:
            case "tile":
                return ("view", "trunc_r", axis, sub(mul(ceil(n, k), k), n), ("view", "flatten", axis, None, inner))
            case "split":
                self.eq(env, mul(div(n, k), k), n)
                return ("view", "flatten", axis, None, inner)
            case "flatten":
                self.ge(env, sub(extents[axis + 1], ONE))
                return ("view", "split", axis, extents[axis + 1], inner)
        need(op in WRAPPED, op, "has no inverse")
        return ("view", WRAPPED[op], axis, amount, inner)

    def rule_contract(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "op" and t[3][0] == "f")
        self.licences.add("contract")
        if t[1] == "mul" and env.folding == "add":
            return ("op", "mulacc", t[2], t[3])
        need(t[1] == "add")
        for k, other in ((0, 1), (1, 0)):
            if t[2][k][0] == "op" and t[2][k][1] == "mul":
                return ("op", "fma", (*t[2][k][2], t[2][other]), t[3])
        raise Rejected("contract: no product")

    # -- named values

    def rule_unfold(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "get" and t[1] in env.defs)
        for p, n in zip(t[2], env.shapes[t[1]], strict=True):
            self.ge(env, p)
            self.ge(env, below(p, n))
        made = element(refresh(env.defs[t[1]]), t[2], env.shapes)
        self.folded(env, made)
        return made

    def rule_guard_get(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "get" and t[1] in env.defs and env.folding in (None, "add"))
        made = element(env.defs[t[1]], t[2], env.shapes)
        need(made[0] == "guard", "not padded")
        if env.folding == "add":
            self.licence("signed-zero", env, t)
        return guard(made[1], t)

    def rule_fold(self, env: Env, t: Term, new: Term, x: str, index: Any) -> Term:
        need(x in env.defs and len(index) == len(env.shapes[x]))
        for p, n in zip(index, env.shapes[x], strict=True):
            self.ge(env, p)
            self.ge(env, below(p, n))
        need(alike(element(refresh(env.defs[x]), index, env.shapes), t, {}), "fold: not what it holds")
        self.folded(env, t)
        return ("get", x, index)

    def rule_let_view(self, env: Env, t: Term, new: Term, x: str, name: str, dims: Any, read: Any, index: Any, names: Any = ()) -> Term:
        need(x in env.shapes and new[0] == "let" and len(read) == len(env.shapes[x]))
        extents, y = env.shapes[x], new[1]

        def move(old: Term, made: Term, here: Env) -> Term:
            """Old reads of x where the new term reads the copy; the index it chose is read off and justified."""
            if old[0] == "get" and old[1] == x:
                need(made[0] == "get" and made[1] == y and len(made[2]) == len(dims))
                for p, d in zip(made[2], dims, strict=True):
                    self.ge(here, p)
                    self.ge(here, below(p, d))
                back = {f"$j{k}": p for k, p in enumerate(made[2])}
                for p, r in zip(old[2], read, strict=True):
                    self.eq(here, subst(r, back), p)
                return made
            parts, others = kids(old), kids(made)
            need(old[0] == made[0] and len(parts) == len(others), "let_view changes something else")
            return with_kids(old, tuple(move(a, b, here.down(old, k)) for k, (a, b) in enumerate(zip(parts, others, strict=True))))

        body = move(t, new[3], env)
        syms = [fresh() for _ in dims]
        source = tuple(subst(r, {f"$j{k}": var(s) for k, s in enumerate(syms)}) for r in read)
        copy = element(refresh(env.defs[x]), source, env.shapes) if x in env.defs else ("get", x, source)
        copy = guard(tuple(c for p, n in zip(source, extents, strict=True) for c in (p, below(p, n))), copy)
        for s, d in zip(reversed(syms), reversed(dims), strict=True):
            self.ge(env, d)
            copy = ("gen", s, ZERO, d, copy)
        return ("let", y, copy, body, None)

    def rule_let_bind(self, env: Env, t: Term, new: Term, name: str, part: Any = (), names: Any = ()) -> Term:
        inside, node, own = env, t, set()
        for k in part:
            need(node[0] not in ("nest", "many") and 0 <= k < len(kids(node)))
            if node[0] in ("gen", "sum") or (node[0] == "let" and k == 1):
                own.add(node[1])
            inside, node = inside.down(node, k), kids(node)[k]
        need(not mentions(node) & own and node[0] != "many")
        self.folded(inside, node)
        x, extents = fresh(), shape(node, inside.shapes)
        syms = [fresh() for _ in extents]
        use: Term = ("get", x, tuple(var(s) for s in syms))
        for s, n in zip(reversed(syms), reversed(extents), strict=True):
            use = ("gen", s, ZERO, n, use)

        def put(u: Term, path: Any) -> Term:
            if not path:
                return use
            return with_kids(u, tuple(put(k, path[1:]) if j == path[0] else k for j, k in enumerate(kids(u))))

        return ("let", x, node, put(t, part), None)

    def rule_let_lift(self, env: Env, t: Term, new: Term, name: Any = None) -> Term:
        need(t[0] in ("gen", "sum") and t[4][0] == "let" and t[4][4] is None)
        _, x, e, b, _ = t[4]
        if t[1] not in mentions(e):
            return ("let", x, e, with_kids(t, (b,)), None)
        if t[0] == "sum":
            self.ge(env, sub(t[3], t[2]))
        o = fresh()

        def use(u: Term) -> Term:
            if u[0] == "get" and u[1] == x:
                return ("get", x, (sub(var(t[1]), t[2]), *u[2]))
            if u[0] == "look" and u[1] == x:
                return ("look", x, (("index", sub(var(t[1]), t[2])), *map(use, u[2])))
            need(u[0] != "nest" or x not in u[4], "an opaque part is made of it as a whole")
            return with_kids(u, tuple(use(k) for k in kids(u)))

        return ("let", x, ("gen", o, t[2], t[3], set_vars(e, {t[1]: var(o)})), with_kids(t, (use(b),)), None)

    def rule_let_out(self, env: Env, t: Term, new: Term, kid: int) -> Term:
        need(t[0] in ("op", "look", "cast", "choose", "cat", "plus", "view", "guard", "let") and 0 <= kid < len(kids(t)))
        let = kids(t)[kid]
        need(let[0] == "let" and let[4] is None and not (t[0] == "let" and kid == 1 and t[1] in mentions(let[2])))
        return ("let", let[1], let[2], with_kids(t, tuple(let[3] if k == kid else u for k, u in enumerate(kids(t)))), None)

    def rule_let_dead(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "let" or (t[0] == "nest" and t[7] >= 1 and not t[6]), "more than values")
        body = kids(t)[-1]
        need(not any(uses(body, x) for x in bound(t)), "still read")
        return body

    def rule_nest_round(self, env: Env, t: Term, new: Term, x: str, index: Any, name: Any = None) -> Term:
        at = index
        need(x in env.parts and isinstance(at, tuple), "not of an opaque part")
        _, made, _, digest, args, _, _, rows, before = env.parts[x]
        need(1 <= len(at) <= rows - len(before), "rounds that are not independent")
        for p, n in zip(at, env.shapes[x][: len(at)], strict=True):
            self.ge(env, p)
            self.ge(env, below(p, n))
        names = {y: fresh() for y, _ in made}

        def use(u: Term) -> Term:
            if u[0] == "get" and u[1] in names and u[2][: len(at)] == at:
                return ("get", names[u[1]], u[2][len(at) :])
            u = with_kids(u, tuple(use(k) for k in kids(u)))
            if u[0] == "look" and u[1] in names and u[2][: len(at)] == tuple(("index", p) for p in at):
                return ("look", names[u[1]], u[2][len(at) :])
            return u

        shapes = tuple(env.shapes[y][len(at) :] for y, _ in made)
        return ("nest", tuple((names[y], d) for y, d in made), shapes, digest, args, use(t), (), rows, (*before, *at))

    def rule_let_roll(self, env: Env, t: Term, new: Term, lead: Poly, rows: int) -> Term:
        need(t[0] == "let" and t[2][0] == "gen" and t[3][0] == "gen" and t[2][2] == ZERO and isinstance(rows, int) and rows >= 1)
        newest = add(var(t[3][1]), lead)

        def visit(u: Term, here: Env) -> None:
            need((u[0] != "look" or u[1] != t[1]) and (u[0] != "nest" or t[1] not in u[4]), "rows that are looked up, or all of them")
            if u[0] == "get" and u[1] == t[1]:
                self.ge(here, sub(newest, u[2][0]))
                self.ge(here, add(sub(u[2][0], newest), const(rows - 1)))
            for k, inner in enumerate(kids(u)):
                visit(inner, here.down(u, k))

        visit(t[3], env.down(t, 1))
        return ("let", t[1], t[2], t[3], (lead, rows))
