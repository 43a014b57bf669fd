"""ATL's equations by their names (docs/sources.md, ATL), each a recipe of the kernel's rules.

`s.rewrite("split_gen", at="y", at_=5)` is `gen_cut`; `s.rewrite("transpose_gen_gen", at="y")` is `swap`; and so on. An equation read from right
to left has its own row where the other direction is another rule. Rows of names that say the same about other shapes (genr, of_nat, sumr)
share a recipe. Facts about div and mod (Div.v) are theorems of the prover and have no row; pairs do not exist here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from atoll.schedule import term as tm
from atoll.schedule.alike import alike
from atoll.schedule.kernel import Refused, signature
from atoll.schedule.work import Work

Recipe = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Equation:
    name: str
    statement: str
    rules: tuple[str, ...]
    recipe: Recipe
    takes: dict[str, bool]  # arguments, and which are needed

    def apply(self, w: Work, root: tm.Path, **args: Any) -> None:
        """At the first place at or below a position where it holds."""
        first: Refused | None = None
        for path, _ in tm.walk(tm.at(w.term, root), root):
            given = {k: w.size(v, path) if k in ("at_", "amount", "by", "low", "high") else v for k, v in args.items()}
            saved = (w.theorem, w.base)
            try:
                self.recipe(w, path, **given)
                return
            except Refused as refused:
                w.theorem, w.base = saved
                if first is None or (first.goal is None and refused.goal is not None):
                    first = refused
        assert first is not None
        raise first


EQUATIONS: dict[str, Equation] = {}


def _enter(names: str, statement: str, rules: str, recipe: Recipe) -> None:
    for name in names.split():
        EQUATIONS[name] = Equation(name, statement, tuple(rules.split()), recipe, _takes(recipe))


def _takes(recipe: Recipe) -> dict[str, bool]:
    rule, fixed = getattr(recipe, "rule", None), getattr(recipe, "fixed", {})
    if rule is not None:
        return {("at_" if name == "at" else name): needed for name, needed in signature(rule).items() if name not in fixed}
    parameters = list(inspect.signature(recipe).parameters.values())[2:]
    return {p.name: p.default is inspect.Parameter.empty for p in parameters}


def _rule(name: str, **fixed: Any) -> Recipe:
    """One rule; at_ is called `at` there."""

    def recipe(w: Work, path: tm.Path, **args: Any) -> None:
        given = {("at" if k == "at_" else k): v for k, v in args.items()}
        w.do(path, name, **{**fixed, **given})

    recipe.rule, recipe.fixed = name, fixed  # type: ignore[attr-defined]
    return recipe


def _pair(op: str) -> Recipe:
    """Wrap a term into an operator and its inverse."""

    def recipe(w: Work, path: tm.Path, axis: int = 0, amount: Any = None) -> None:
        if amount is None:
            w.do(path, "wrap", op=op, axis=axis)
        else:
            w.do(path, "wrap", op=op, axis=axis, amount=amount)

    return recipe


def _gen_trunc(op: str) -> Recipe:
    """A loop over a longer range, truncated: the padded inside is written out as a loop."""

    def recipe(w: Work, path: tm.Path, amount: Any) -> None:
        t = tm.at(w.term, path)
        if not isinstance(t, tm.Gen):
            raise Refused("the equation is about a loop that builds an array")
        w.do(path, "wrap", op=op, axis=0, amount=amount)
        w.do((*path, 0), "expand", names=(t.sym.name,))
        w.simplify(path)

    return recipe


def _concat(w: Work, path: tm.Path, at_: Any) -> None:
    w.do(path, "gen_cut", at=at_)
    w.do((*path, 1), "loop_shift")


def _peel(first: bool) -> Recipe:
    def recipe(w: Work, path: tm.Path) -> None:
        t = tm.at(w.term, path)
        if not isinstance(t, (tm.Gen, tm.Sum)):
            raise Refused("the equation is about a loop")
        w.do(path, "gen_cut" if isinstance(t, tm.Gen) else "sum_cut", at=t.low + 1 if first else t.high - 1)

    return recipe


def _indicator(w: Work, path: tm.Path) -> None:
    """S k. [k == a, rest] b = [in range, rest] b(a)."""
    t = tm.at(w.term, path)
    if not (isinstance(t, tm.Sum) and isinstance(t.body, tm.Guard)):
        raise Refused("the equation is about a sum over a guard")
    for c in t.body.conds:
        coef = c.slope(t.sym)
        if coef is not None and coef.const() == 1 and -c in t.body.conds:
            a = -(c - t.sym)
            if t.sym in a.leaves():
                continue
            w.do(path, "exchange_range", low=a, high=a + 1)
            w.do(path, "sum_one")
            w.simplify(path)
            return
    raise Refused(f"no condition of the guard says what {t.sym} is")


def _same(w: Work, path: tm.Path) -> None:
    """let x := e in let y := e in f x y = let x := e in f x x."""
    t = tm.at(w.term, path)
    if not (isinstance(t, tm.Let) and isinstance(t.body, tm.Let) and alike(t.bound, t.body.bound)):
        raise Refused("the equation is about two names for one value")
    x, y = t.name, t.body.name
    for _ in range(2000):
        uses = w.uses(y, path)
        if not uses:
            break
        use = tm.at(w.term, uses[0])
        assert isinstance(use, tm.Get)
        w.do(uses[0], "unfold")
        w.do(uses[0], "fold", x=x, index=use.index)
    w.do((*path, 1), "let_dead")


_TABLE: list[tuple[str, str, str, Recipe]] = [
    # Reshape.v: identities
    ("trunc_r_pad_r_id trunc_r_pad_r_unsafe_id", "v = trunc_r k (pad_r k v)", "wrap", _pair("pad_r")),
    ("trunc_l_pad_l_id trunc_l_pad_l_unsafe_id", "v = trunc_l k (pad_l k v)", "wrap", _pair("pad_l")),
    (
        "flatten_trunc_tile_id flatten_truncr_tile_id flatten_truncr_tile_id'",
        "v = trunc_r (cd(n,k)*k - n) (flatten (tile v k))",
        "wrap",
        _pair("tile"),
    ),
    ("tile_flatten_id", "v = split (flatten v)", "wrap", _pair("flatten")),
    ("transpose_transpose_id", "v = transpose (transpose v)", "wrap", _pair("transpose")),
    ("unfold_transpose unfold_inner_transpose unfold_outer_transpose transpose_get_get", "transpose v = G x. G y. v[y, x]", "expand", _rule("expand")),
    ("unfold_flatten unfold_flatten_trunc flatten_gen flatten_gen_gen get_flatten_trunc", "flatten v = G k. v[k/m, k%m]", "expand", _rule("expand")),
    ("trunc_r_gen flatten_trunc_gen flatten_trunc_gen_gen", "trunc_r k (G i<n. b) = G i<n-k. b", "expand", _rule("expand")),
    ("flatten_trunc_flatten_truncr flatten_trunc_to_trunc trunc_r_truncr trunc_l_truncl truncr_Truncr", "one spelling for another", "expand", _rule("expand")),
    # half identities
    ("gen_trunc_guarded gen_trunc", "G i<n. b = trunc_l k (G i<n+k. [k<=i] b(i-k))", "wrap expand", _gen_trunc("pad_l")),
    ("trunc_gen", "G i<n. b = trunc_r k (G i<n+k. [i<n] b)", "loop_trunc", _rule("loop_trunc")),
    ("pad_gen help", "G i<n+k. [i<n] b = (G i<n. b) ++ zeros", "gen_cut", _rule("gen_cut")),
    # operators commute with what is around them
    ("transpose_iverson flatten_iverson flatten_trunc_iverson gp_flatten_trunc_iverson", "[p] (R e) = R ([p] e)", "float_out", _rule("float_out")),
    ("transpose_sum flatten_sum flatten_trunc_sum", "S (R e) = R (S e)", "float_out", _rule("float_out")),
    ("transpose_let flatten_let flatten_trunc_let flatten_trunc_gen_let", "let x in R e = R (let x in e)", "float_out", _rule("float_out")),
    ("transpose_bin", "R (a (+) b) = R a (+) R b, as loops", "float_out", _rule("float_out")),
    ("flatten_trunc_gen_transpose", "G (R e) = R (G e)", "float_out", _rule("float_out")),
    ("guard_null get_gen_null get_gen_neg_null get_neg_null get_znlt_null get_neg_zero get_znlt_zero iverson_mul_false", "[false] e = 0", "simplify", _rule("simplify")),
    # loop splitting
    ("split_gen split_genr split_gen_plus", "G i<n. b = (G i<m. b) ++ (G m<=i<n. b)", "gen_cut", _rule("gen_cut")),
    ("gen_to_concat", "G i<n. b = (G i<m. b) ++ (G i<n-m. b(i+m))", "gen_cut loop_shift", _concat),
    ("distrib_gen_concat", "G i. (f ++ g) = (G f) ++ (G g), one axis further in", "float_out", _rule("float_out")),
    ("get_concat_l get_concat_r", "(a ++ b)[i], i known on one side", "simplify", _rule("simplify")),
    ("gen_helper_offset sum_helper_add_const", "K lo<=i<hi. b = K i<hi-lo. b(i+lo)", "loop_shift", _rule("loop_shift")),
    ("gen_step", "G i<n. b = (G i<1. b) ++ (G 1<=i<n. b)", "gen_cut", _peel(True)),
    ("sum_helper_app sum_of_nat_step", "S i<n. b = (S i<n-1. b) (+) (S n-1<=i<n. b)", "sum_cut", _peel(False)),
    # Common.v: access
    ("get_gen_some get_gen_of_nat_some get_genr_some get_gen_some_guard get_0_gen_of_nat get_genr_indic inline", "x[i] = b(i), let x := G i. b", "unfold", _rule("unfold")),
    ("gen_get_id gen_of_nat_get_id get_gen_id normalize_gen", "e = let x := e in G i. x[i]", "let_bind", _rule("let_bind")),
    ("get_bin_distr get_sum gp_iverson gen_get_gen_swap normalize_bin", "e = G i. e[i]", "expand", _rule("expand")),
    # guards
    ("true_iverson iverson_id_true simpl_guard iverson_eq iverson_eq_pred collapse_iverson_same", "[true] e = e", "simplify", _rule("simplify")),
    ("collapse_iverson gp_double_iverson iverson_comm", "[p][q] e = [p && q] e", "simplify", _rule("simplify")),
    ("iverson_bin_distr", "[p] (a (+) b) = [p] a (+) [p] b", "guard_in", _rule("guard_in")),
    ("guard_mul_l guard_mul_r guard_eq_mul", "([p] a) * b = [p] (a * b)", "guard_mul", _rule("guard_mul")),
    ("gp_gen_iverson gp_genr_iverson", "[p] G b = G [p] b", "guard_in", _rule("guard_in")),
    ("gp_gen_iverson'", "G [p] b = [p] G b", "float_out", _rule("float_out")),
    ("sum_iverson_lift", "[p] S b = S [p] b", "guard_in", _rule("guard_in")),
    ("trunc_r_guard ll_iverson_ let_guard_lift", "[p] (let x in e) = let x in [p] e", "guard_in", _rule("guard_in")),
    # sums
    ("sum_swap", "S x. S y. f = S y. S x. f", "swap", _rule("swap")),
    ("sum_gen_swap transpose_gen_gen", "G x. S y. f = S y. G x. f; G x. G y. f = transpose (G y. G x. f)", "swap", _rule("swap")),
    (
        "sum_bound_indic sumr_bound_indic sum_bound_indic_no_f sum_of_nat_bound_indic_no_f sum_bound_indic_no_f_guard sum_helper_bound_indic",
        "S k. [k == a && p] b = [a in range && p(a)] b(a)",
        "exchange_range sum_one simplify",
        _indicator,
    ),
    ("sumr_indic_false sum_helper_false sum_helper_indic_false", "S [false] b = 0", "simplify", _rule("simplify")),
    ("sum_bin_split", "S (f (+) g) = S f (+) S g", "float_out", _rule("float_out")),
    ("bin_gen tensor_gen_bin gen_helper_bin", "G f (+) G g = G (f (+) g)", "float_in", _rule("float_in")),
    ("mul_sum_sum_mul mul_0_sum_helper", "c * S b = S (c * b)", "distribute", _rule("distribute")),
    # LetLifting.v
    ("lbind_helper lbind", "e = let x := e' in e{e' := x}", "let_bind", _rule("let_bind")),
    (
        "ll_bin_l ll_bin_r ll_plus_l ll_plus_r ll_mult_l ll_mult_r ll_div_l ll_div_r ll_concat_l ll_concat_r ll_exp ll_arg ll_get ll_iverson",
        "K (let x := e in b) = let x := e in K b",
        "let_out",
        _rule("let_out", kid=0),
    ),
    ("let_let_flip let_let_comm let_rotate_concat_right let_rotate_concat_left tlet_f_bound_body", "let y := (let x := e in f) in g = let x := e in let y := f in g", "let_out", _rule("let_out", kid=0)),
    ("ll_gen ll_gen_bound", "G i. let x := e(i) in b = let X := G i. e(i) in G i. b{x := X[i]}", "let_lift", _rule("let_lift")),
    ("ll_gen_indep ll_sum_indep", "K i. let x := e in b = let x := e in K i. b", "let_lift", _rule("let_lift")),
    ("ll_sum ll_sumr", "S i. let x := e(i) in b = let X := G i. e(i) in S i. b{x := X[i]}", "let_lift", _rule("let_lift")),
    ("let_let_same", "let x := e in let y := e in f x y = let x := e in f x x", "unfold fold let_dead", _same),
    ("tlet_bin_distr", "let x in (a (+) b) = (let x in a) (+) (let x in b)", "float_out", _rule("float_out")),
    ("tlet_id_split", "let x in b = let x in let x' := x, seen otherwise, in b{x := x'}", "let_view", _rule("let_view")),
]

for _names, _statement, _rules, _recipe in _TABLE:
    _enter(_names, _statement, _rules, _recipe)
