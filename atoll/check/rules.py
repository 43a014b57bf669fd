"""The checker's own rules: each recomputes what a step must give and compares, up to the names of binders, with what the certificate says.

Side conditions are looked up in the table of proofs under the hypotheses found at the position. `simplify` is followed side by side: at
every node the new term is the old one with something dropped or written differently, for a reason that is in the table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atoll.check.sums import (
    ONE,
    ZERO,
    Poly,
    Proofs,
    Rejected,
    Tables,
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
    value,
    var,
)
from atoll.check.terms import (
    BODY,
    PADS,
    VIEWS,
    Env,
    Term,
    accumulates,
    alike,
    below,
    dtype,
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


class Rules:
    def __init__(self, tables: Tables, proofs: Proofs) -> None:
        self.t, self.proofs = tables, proofs
        self.licences: set[str] = set()

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

    def ge(self, env: Env, goal: Poly, what: str = "a side condition") -> None:
        need(self.proofs.holds(env.facts, goal), what, "is not proved")

    def eq(self, env: Env, a: Poly, b: Poly) -> None:
        need(self.proofs.equal(env.facts, a, b), "an equation is not proved")

    def licence(self, name: str, env: Env, t: Term) -> None:
        if env.is_float(t):
            self.licences.add(name)

    def folded(self, env: Env, t: Term) -> None:
        """The value of t is folded instead of t."""
        if env.folding is not None:
            if accumulates(t, env.folding):
                self.licence("reassociate", env, t)
            if env.folding == "add" and may_skip(t):
                self.licence("signed-zero", env, t)

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
            return with_kids(u, tuple(use(k) for k in kids(u)))

        return ("let", x, ("gen", o, t[2], t[3], set_vars(e, {t[1]: var(o)})), with_kids(t, (use(b),)), None)

    def rule_let_out(self, env: Env, t: Term, new: Term, kid: int) -> Term:
        need(t[0] in ("op", "look", "cast", "choose", "cat", "plus", "view", "guard", "let") and 0 <= kid < len(kids(t)))
        let = kids(t)[kid]
        need(let[0] == "let" and let[4] is None and not (t[0] == "let" and kid == 1 and t[1] in mentions(let[2])))
        return ("let", let[1], let[2], with_kids(t, tuple(let[3] if k == kid else u for k, u in enumerate(kids(t)))), None)

    def rule_let_dead(self, env: Env, t: Term, new: Term) -> Term:
        need(t[0] == "let" and not uses(t[3], t[1]), "still read")
        return t[3]  # type: ignore[no-any-return]

    def rule_let_roll(self, env: Env, t: Term, new: Term, lead: Poly, rows: int) -> Term:
        need(t[0] == "let" and t[2][0] == "gen" and t[3][0] == "gen" and t[2][2] == ZERO and isinstance(rows, int) and rows >= 1)
        newest = add(var(t[3][1]), lead)

        def visit(u: Term, here: Env) -> None:
            need(u[0] != "look" or u[1] != t[1], "rows that are looked up")
            if u[0] == "get" and u[1] == t[1]:
                self.ge(here, sub(newest, u[2][0]))
                self.ge(here, add(sub(u[2][0], newest), const(rows - 1)))
            for k, inner in enumerate(kids(u)):
                visit(inner, here.down(u, k))

        visit(t[3], env.down(t, 1))
        return ("let", t[1], t[2], t[3], (lead, rows))

    # -- simplify, followed side by side

    def same(self, env: Env, a: Poly, b: Poly) -> bool:
        return self.proofs.equal(env.facts, a, b)

    def holds(self, env: Env, p: Poly) -> bool:
        return self.proofs.holds(env.facts, p)

    def fails(self, env: Env, p: Poly) -> bool:
        return self.proofs.holds(env.facts, sub(const(-1), p))

    def follow(self, o: Term, n: Term, env: Env) -> bool:
        """n is o, simplified."""
        match o[0]:
            case "guard":
                return self.follow_guard(o, n, env)
            case "choose":
                return self.follow_choose(o, n, env)
        if n[0] == "zero" and o[0] != "zero":
            return self.vanishes(o, env) and self.zeros_like(n, o, env)
        if o[0] == n[0] and self.follow_kids(o, n, env):
            return True
        match o[0]:
            case "op" if o[1] == "add":
                for k, other in ((0, 1), (1, 0)):
                    if self.vanishes(o[2][k], env.down(o, k)) and self.follow(o[2][other], n, env.down(o, other)):
                        self.licence("signed-zero", env, o)
                        self.folded(env, n)
                        return True
            case "op" if o[1] == "mul" or (o[1] == "mulacc" and env.folding != "add"):
                if any(is_one(o[2][k]) and self.follow(o[2][1 - k], n, env.down(o, 1 - k)) for k in (0, 1)):
                    self.folded(env, n)
                    return True
            case "op" if o[1] == "sub":
                if self.vanishes(o[2][1], env.down(o, 1)) and self.follow(o[2][0], n, env.down(o, 0)):
                    self.folded(env, n)
                    return True
            case "plus" if o[3] == "add":
                if self.vanishes(o[2], env.down(o, 1)) and self.follow(o[1], n, env.down(o, 0)):
                    if env.folding != "add":
                        self.folded(env, n)
                    return True
                if self.vanishes(o[1], env.down(o, 0)) and self.follow(o[2], n, env.down(o, 1)):
                    if env.folding != "add":
                        self.licence("signed-zero", env, o)
                        self.folded(env, n)
                    return True
            case "cat":
                for k, other in ((2, 3), (3, 2)):
                    if self.empty(o[k], o[1], env) and self.follow(o[other], n, env):
                        return True
        return False

    def empty(self, t: Term, axis: int, env: Env) -> bool:
        """t has no elements along the axis, also where no loop around runs."""
        return self.proofs.equal(env.closed, shape(t, env.shapes)[axis], ZERO)

    def same_shape(self, a: Term, b: Term, env: Env) -> bool:
        """For all sizes, also those for which no loop around runs."""
        extents, others = shape(a, env.shapes), shape(b, env.shapes)
        return len(extents) == len(others) and all(self.proofs.equal(env.closed, p, q) for p, q in zip(extents, others, strict=True))

    def zeros_like(self, zero: Term, t: Term, env: Env) -> bool:
        """Zeros of t's shape and type."""
        extents = shape(t, env.shapes)
        return len(zero[1]) == len(extents) and zero[2] == dtype(t, env.types) and all(self.same(env, a, b) for a, b in zip(extents, zero[1], strict=True))

    def follow_kids(self, o: Term, n: Term, env: Env) -> bool:
        """The same node, its polynomials equal, its parts simplified."""
        if len(kids(o)) != len(kids(n)) or not self.same_node(o, n, env):
            return False
        for k, (a, b) in enumerate(zip(kids(o), kids(n), strict=True)):
            here = with_kids(o, (kids(n)[0], kids(o)[1])) if o[0] == "let" and k == 1 else o
            counts = o[0] == "view" or (o[0] in ("cat", "let") and k == 0)  # places of elements, by the shape of the part
            if counts and a is not b and not self.same_shape(a, b, env):
                return False
            if not self.follow(a, b, env.down(with_bounds(here, n), k)):
                return False
        return True

    def same_node(self, o: Term, n: Term, env: Env) -> bool:
        match o[0]:
            case "gen" | "sum":
                here = replace(env, facts=env.closed) if o[0] == "gen" else env  # shapes rest on what holds without the loops
                return bool(o[1] == n[1] and o[5:] == n[5:] and self.same(here, o[2], n[2]) and self.same(here, o[3], n[3]))
            case "let":
                rolled = o[4] == n[4] or (o[4] and n[4] and o[4][1] == n[4][1] and self.same(env, o[4][0], n[4][0]))
                return bool(o[1] == n[1] and rolled)
            case "get":
                return bool(o[1] == n[1] and len(o[2]) == len(n[2]) and all(self.same(env, a, b) for a, b in zip(o[2], n[2], strict=True)))
            case "view":
                return bool(o[1:3] == n[1:3] and (o[3] is None or self.same(env, o[3], n[3])))
            case "index":
                return self.same(env, o[1], n[1])
            case "nest":
                return bool(o[:5] == n[:5] and o[6] == n[6])
            case "zero" | "lit":
                return o == n
            case "op":
                return bool(o[1] == n[1] and o[3] == n[3])
            case "look":
                return bool(o[1] == n[1])
            case "cat" | "cast":
                return bool(o[1] == n[1] if o[0] == "cat" else o[2] == n[2])
            case "plus":
                return bool(o[3] == n[3])
        return bool(o[0] == "many")

    def follow_guard(self, o: Term, n: Term, env: Env) -> bool:
        left = list(n[1]) if n[0] == "guard" else []
        inside = env
        for c in o[1]:
            kept = next((d for d in left if self.same(inside, c, d)), None)
            if kept is not None:
                left.remove(kept)
                inside = inside.know(kept)
            elif self.holds(inside, c):
                continue
            elif n[0] == "zero" and self.fails(inside, c):
                return self.zeros_like(n, o, env)
            elif n[0] == "zero":
                inside = inside.know(c)
            else:
                return False
        return self.follow(o[2], guard(tuple(left), n[2]) if n[0] == "guard" else n, inside)

    def follow_choose(self, o: Term, n: Term, env: Env) -> bool:
        kept, inside = [], env
        left = list(n[3]) if n[0] == "choose" else []
        for kind, p, x in o[3]:
            if left and left[0][0] == kind and self.same_test((kind, p, x), left[0], inside, env):
                kept.append(left.pop(0))
                inside = inside.know(*test_known(kept[-1]))
            elif p is not None and self.decided(kind, p, inside) is True:
                continue
            elif p is not None and self.decided(kind, p, inside) is False:
                return self.follow(o[2], n, env)
            else:
                return False
        if not kept:
            return self.follow(o[1], n, env)
        here = ("choose", o[1], o[2], tuple(kept))
        return not left and self.follow(o[1], n[1], env.down(here, 0)) and self.follow(o[2], n[2], env.down(here, 1))

    def same_test(self, a: Any, b: Any, inside: Env, env: Env) -> bool:
        if a[1] is not None:
            return b[1] is not None and self.same(inside, a[1], b[1])
        return b[2] is not None and self.follow(a[2], b[2], env.down(("op", "", (), ""), 0))

    def decided(self, kind: str, p: Poly, env: Env) -> bool | None:
        if kind == "ge":
            return True if self.holds(env, p) else False if self.fails(env, p) else None
        n = value(p)
        return None if n is None else (n == 0) == (kind == "eq")

    def vanishes(self, t: Term, env: Env) -> bool:
        """t simplifies to zeros."""
        match t[0]:
            case "zero":
                return True
            case "guard":
                inside = env
                for c in t[1]:
                    if self.fails(inside, c):
                        return True
                    inside = inside.know(c)
                return self.vanishes(t[2], inside)
            case "gen":
                return self.vanishes(t[4], env.down(t, 0))
            case "sum":
                return bool(t[5] == "add" and (self.holds(env, sub(t[2], t[3])) or self.vanishes(t[4], env.down(t, 0))))
            case "cat":
                return all(self.empty(k, t[1], env) or self.vanishes(k, env.down(t, j)) for j, k in enumerate(kids(t)))
            case "plus":
                return bool(t[3] == "add" and all(self.vanishes(k, env.down(t, j)) for j, k in enumerate(kids(t))))
            case "op":
                if t[1] in ("add", "sub") and all(self.vanishes(k, env.down(t, j)) for j, k in enumerate(t[2])):  # 0 + 0 and 0 - 0 are 0
                    if env.folding == "add":
                        self.licence("signed-zero", env, t)  # and are added, where zeros are not
                    return True
        return False


def is_one(t: Term) -> bool:
    return bool(t[0] == "lit" and t[1] in ("1", repr({"f": (1.0).hex()})))


def with_bounds(o: Term, n: Term) -> Term:
    """The loop with its simplified bounds: that is what the simplified body was looked at under."""
    return (*o[:2], n[2], n[3], *o[4:]) if o[0] in ("gen", "sum") else o


def test_known(test: Any) -> tuple[Poly, ...]:
    kind, p, _ = test
    return () if p is None or kind not in ("ge", "eq") else (p,) if kind == "ge" else (p, sub(ZERO, p))
