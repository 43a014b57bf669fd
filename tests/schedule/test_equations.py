"""ATL's equations by their names: each holds where it applies, on random terms and on terms of its own form."""

from __future__ import annotations

import random
from typing import Any

import pytest

from atoll.schedule import term as tm
from atoll.schedule.equations import EQUATIONS, Equation
from atoll.schedule.kernel import RULES, Refused, start
from atoll.schedule.rules_lets import VIEW_J, VIEW_P
from atoll.schedule.work import Work
from atoll.sizes import poly
from tests.schedule.random_terms import FACTS, M, Maker, N, agree

ROWS: list[Equation] = list({id(e.recipe): e for e in reversed(EQUATIONS.values())}.values())  # names that share a recipe are tried once


def own_term(name: str, maker: Maker) -> tm.Term | None:
    """A term of the form an equation is about, where random ones rarely are."""
    a, b, c = maker.inputs
    i, k = tm.Sym("i"), tm.Sym("k")
    n, m = poly(N), poly(M)
    x = tm.Tensor("x", maker.dtype)
    match name:
        case "sum_bound_indic":
            body = tm.guard((poly(k) - poly(i), poly(i) - poly(k), m - 1 - poly(k)), tm.Get(b, (poly(k),)))
            return tm.Gen(i, poly(0), n, tm.Sum(k, poly(0), m, body))
        case "let_let_same":
            y = tm.Tensor("y", maker.dtype)
            first, second = (tm.Gen(tm.Sym("j"), poly(0), n, tm.Get(c, (poly(0),))) for _ in range(2))
            use = tm.Op("add", (tm.Get(x, (poly(i),)), tm.Get(y, (poly(i),))), maker.dtype)
            return tm.Let(x, first, tm.Let(y, second, tm.Gen(i, poly(0), n, use)))
        case "guard_mul_l":
            return tm.Gen(i, poly(0), n, tm.Op("mul", (tm.guard((poly(i) - 1,), tm.Get(c, (poly(i),))), tm.Get(c, (poly(i),))), maker.dtype))
        case "mul_sum_sum_mul":
            inner = tm.Sum(k, poly(0), m, tm.Get(a, (poly(i), poly(k))))
            return tm.Gen(i, poly(0), n, tm.Op("mul", (tm.Get(c, (poly(i),)), inner), maker.dtype))
        case "bin_gen":
            return tm.Plus(tm.Gen(i, poly(0), n, tm.Get(c, (poly(i),))), tm.Gen(tm.Sym("j"), poly(0), n, tm.Get(a, (poly(0), poly(0)))))
        case "get_gen_some" | "ll_gen" | "tlet_id_split":
            let = tm.Let(x, tm.Get(c, (poly(i),)), tm.Op("mul", (tm.Get(x, ()), tm.Get(x, ())), maker.dtype))
            return tm.Gen(i, poly(0), n, let)
        case "ll_bin_l" | "let_let_flip":
            let = tm.Let(x, tm.Get(c, (poly(i),)), tm.Get(x, ()))
            around: tm.Term = tm.Op("sub", (let, tm.Get(c, (poly(i),))), maker.dtype)
            if name == "let_let_flip":
                around = tm.Let(tm.Tensor("y", maker.dtype), let, tm.Get(c, (poly(i),)))
            return tm.Gen(i, poly(0), n, around)
    return None


def arguments(e: Equation, t: tm.Term, maker: Maker, rng: random.Random) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, needed in e.takes.items():
        match name:
            case "at_":
                given[name] = rng.choice([poly(0), poly(1), poly(N)])
            case "amount" if needed or e.name.startswith(("trunc", "flatten_trunc_tile")):
                given[name] = poly(rng.choice([1, 2]))
            case "name" if needed:
                given[name] = "w"
            case "x":
                given[name] = list(maker.inputs)[2]
            case "dims":
                given[name] = (poly(N) + 4,)
            case "read":
                given[name] = (poly(VIEW_J[0]) - 2,)
            case "index":
                given[name] = (poly(VIEW_P[0]) + 2,)
    return given


@pytest.mark.parametrize("e", ROWS, ids=lambda e: e.name)
def test_equation(e: Equation) -> None:
    accepted = 0
    for seed in range(40):
        maker, rng = Maker(seed), random.Random(seed)
        source = own_term(e.name, maker) or maker.term(tuple(maker.extent() for _ in range(rng.randint(1, 2))), 4)
        try:
            w = Work(start("random", source, FACTS, maker.inputs))
            e.apply(w, (), **arguments(e, source, maker, rng))
        except Refused:
            continue
        accepted += 1
        problem = agree(maker, source, w.term, w.theorem.licences)
        assert problem is None, problem
        if accepted == 4:
            break
    assert accepted, f"{e.name} never applied"


def test_every_name_of_the_digest_is_there() -> None:
    """A selection over all files of ATL's lemmas (docs/sources.md, ATL)."""
    names = """trunc_r_pad_r_id flatten_truncr_tile_id' tile_flatten_id transpose_transpose_id gen_trunc_guarded trunc_gen pad_gen
        transpose_gen_gen transpose_iverson flatten_let flatten_gen_gen flatten_sum get_flatten_trunc split_gen split_genr split_gen_plus
        gen_to_concat distrib_gen_concat get_gen_some get_genr_some gen_get_id get_guard_of_nat iverson_bin_distr guard_mul_l collapse_iverson
        gp_gen_iverson gp_gen_iverson' sum_iverson_lift sum_swap sum_gen_swap sum_bound_indic sum_bin_split bin_gen mul_sum_sum_mul gen_step
        lbind_helper ll_bin_l ll_gen ll_gen_indep ll_gen_bound ll_sum let_let_same let_let_flip tlet_bin_distr tlet_f_bound_body tlet_id_split inline
        simpl_guard""".split()
    missing = [name for name in names if name not in EQUATIONS]
    assert missing == ["get_guard_of_nat"]  # reads are total: the guard of a read is the rule guard_get
    assert "guard_get" in RULES and len(EQUATIONS) > 100
