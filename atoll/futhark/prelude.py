"""The names every program sees, made once."""

from __future__ import annotations

import functools
from importlib.resources import files

from atoll.futhark import syntax as s
from atoll.futhark.builtin_types import BUILTINS, MODULE_TYPES, OPERATORS
from atoll.futhark.env import Binding, Env, TypeAbbr
from atoll.futhark.ftypes import BOOL, PRIMS, Con, Fun, Prim
from atoll.futhark.modules import Modules
from atoll.futhark.parse import parse


@functools.cache
def prelude() -> Env:
    env = Env()
    for name, (kind, gives) in OPERATORS.items():
        con = Con("a", kind=kind)
        con.key = con
        arg = BOOL if kind == "bool" else con
        t = Fun(arg, Fun(arg, BOOL if gives == "bool" else arg))
        env.values[name] = Binding(name, t, "builtin", () if kind == "bool" else (con,))
    checker = Modules(env)
    checker.at_top = False
    checker.decs(parse(MODULE_TYPES, "<prelude>"), env)
    for prim in PRIMS:
        _scalar_module(checker, env, prim)
    (sig,) = parse(BUILTINS, "<prelude>")
    assert isinstance(sig, s.SigDef)
    made = checker.abstract(sig.sig, env, sig.span)
    for name, binding in made.values.items():
        binding.kind = "builtin"
        env.values[name] = binding
    acc = made.types["builtin_acc"]
    acc.type.real = lambda args: args[0]
    env.types["builtin_acc"] = acc
    text = files("atoll.futhark").joinpath("prelude.fut").read_text(encoding="utf-8")
    own = Env(env)
    checker.decs(parse(text, "<prelude>"), own)
    for k in range(1, 6):  # what AUTOMAP puts in, under names that no program can hide
        own.values[f"%map{k}"] = env.values["map" if k == 1 else f"map{k}"]
    own.values["%rep"] = own.values["rep"]
    for pipe in ("|>", "<|"):
        own.values[pipe].attrs = "pipe"
    return own


def _scalar_module(checker: Modules, env: Env, prim: str) -> None:
    sig = "from_prim" if prim == "bool" else "float" if prim[0] == "f" else "size" if prim in ("i32", "i64") else "integral"
    text = f"module type m = {sig} with t = {prim}"
    if sig == "float":
        text += f" with int_t = u{prim[1:]}"
    (dec,) = parse(text, "<prelude>")
    assert isinstance(dec, s.SigDef)
    module = checker.abstract(dec.sig, env, dec.span)
    for name, binding in module.values.items():
        binding.kind, binding.name = "builtin", f"{prim}.{name}"
    module.types["t"] = TypeAbbr("t", (), Prim(prim))
    env.mods[prim] = module
