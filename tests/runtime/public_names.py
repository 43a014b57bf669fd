"""What users can call, with arguments that are right: for tests that replace one of them by something odd. By name: the call, right arguments, right keywords."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from atoll.check.certificate import Certificate
from atoll.elaborate.builtins.names import BuiltinName

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

HEAD = "import atoll as at\nn = at.sizes('n')\n"


def _squares() -> at.Function:
    return at.fn(source=HEAD + "def f(x: at.f64[n]) -> at.f64:\n    return sum(x * x)\n")


F = _squares()
G = at.fn(source=HEAD + "def g(x: at.f64[n], dy: at.f64) -> at.f64[n]:\n    return 2.0 * dy * x\n")
H = at.fn(source=HEAD + "def h(x: at.f64[n], dx: at.f64[n]) -> at.f64:\n    return 2.0 * sum(x * dx)\n")
COUNT = at.fn(source="import atoll as at\ndef count(s: at.i64, by: at.i64) -> (at.i64, at.i64):\n    return s + by, s\n")
MADL = "let twice (x of [_]f64) returns (y): forward ([a] = x) returns (y = [b]): b = 2.0 * a end\nlet total (x of f64) returns (y of f64): y = x + last y init 0.0 end\n"


def right_calls(folder: Path) -> dict[str, Call]:
    """Files go to the folder. Nothing that a call changes is shared with another."""
    x, point = np.ones(3), (np.ones(3),)
    found: dict[str, Call] = {
        "at.fn": (at.fn, (F,), {}),
        "at.fn()": (at.fn, (), {"source": HEAD + "def h(x: at.f64[n]):\n    return x\n", "reassociate": True, "copies": "any"}),
        "at.fn(copies=)(f)": (at.fn(copies="any"), (F,), {}),
        "at.sizes": (at.sizes, ("n",), {}),
        "at.some": (at.some, ("n",), {}),
        "at.types": (at.types, ("a",), {}),
        "at.record": (at.record, (type("P", (), {"__annotations__": {"x": at.f64}}),), {}),
        "at.donate": (at.donate, (x,), {}),
        "at.threads": (at.threads, (), {}),
        "at.set_threads": (at.set_threads, (at.threads(),), {}),
        "at.cdiv": (at.cdiv, (at.sizes("n"), 4), {}),
        "at.schedule": (at.schedule, (F,), {}),
        "at.vmap": (at.vmap, (F, 0, 0), {"in_axes": 0, "out_axes": 0}),
        "at.module": (at.module, ("there_is_none.atoi",), {}),
        "at.madl": (at.madl, ("there_is_none.madl",), {"source": MADL, "separate": False, "problems": None}),
        "at.node": (at.node, (COUNT, 0), {}),
        "at.jvp": (at.jvp, (F, point, point), {}),
        "at.jvp2": (at.jvp2, (F, point, point), {}),
        "at.vjp": (at.vjp, (F, point, 1.0), {}),
        "at.vjp2": (at.vjp2, (F, point, 1.0), {}),
        "at.linearize": (at.linearize, (F, point), {}),
        "linear": (at.linearize(F, point)[1], (point,), {}),
        "f()": (F, (x,), {"x": x}),
        "f.interpret": (F.interpret, (x,), {"x": x}),
        "f.show": (F.show, ("core",), {"stage": "core"}),
        "f.explain": (F.explain, ("program",), {"what": "program"}),
        "f.memory": (F.memory, (), {}),
        "f.residuals": (at.grad(F).residuals, (), {}),
        "f.assumptions": (F.assumptions, (), {}),
        "f.refresh": (COUNT.refresh, (), {}),
        "f.compile": (F.compile, ("3",), {"optimise": "3"}),
        "f.with_options": (F.with_options, (F.options,), {}),
        "f.with_plan": (F.with_plan, (), {"x": "store", "no_such_name": "store"}),
        "f.export_c": (F.export_c, (str(folder), "heap", True), {"workspace": "heap", "overwrite": True}),
        "f.def_vjp": (_squares().def_vjp, (G,), {"check": True}),
        "f.def_jvp": (_squares().def_jvp, (H,), {"check": True}),
        "at.cache.stats": (at.cache.stats, (), {}),
        "at.cache.find": (at.cache.find, ("0" * 64,), {}),
        "at.tree.map": (at.tree.map, (lambda *a: a, (x, 1), (x, 2)), {}),
        "at.tree.leaves": (at.tree.leaves, ((x, [1]),), {}),
        "at.tree.zip": (at.tree.zip, ((x, 1), (x, 2)), {}),
        "at.tree.unflatten": (at.tree.unflatten, ((x, 1), (1, 2)), {}),
        "at.idx[]": (at.idx.__getitem__, (at.sizes("n"),), {}),
        "at.own[]": (at.own.__getitem__, (at.f64,), {}),
        "at.Tuple[]": (at.Tuple.__getitem__, ((at.f64, at.i64),), {}),
        "at.Fn[]": (at.Fn.__getitem__, (([at.f64], at.f64),), {}),
    }
    found |= {f"at.{name}": (getattr(at, name), (F, 0), {"wrt": 0}) for name in ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian")}
    found["at.grad(has_aux=)"] = at.grad, (F,), {"has_aux": False}
    found |= {f"n {op.__name__}": (functools.partial(op, at.sizes("n")), (2,), {}) for op in (operator.add, operator.mul, operator.floordiv, operator.mod, operator.pow, operator.lt, operator.truediv)}
    found |= {f"at.{t.dtype.name}": (t, (1,), {}) for t in (at.f16, at.bf16, at.f32, at.f64, at.i8, at.i64, at.u8, at.u64, at.c64, at.c128, at.bool_)}
    found |= {f"at.{t.dtype.name}[]": (t.__getitem__, (at.sizes("n"),), {}) for t in (at.f64, at.i64)}
    return found | _built_in() | _random() | _schedules(folder) | _madl(folder) | _larger(folder)


def _built_in() -> dict[str, Call]:
    names = {f"at.{name}": getattr(at, name) for name in at.__all__ if isinstance(getattr(at, name, None), BuiltinName)}
    names |= {f"at.{part}.{name}": getattr(getattr(at, part), name) for part in ("linalg", "fft") for name in ("solve", "fft") if name in dir(getattr(at, part))}
    return {name: (call, (np.ones(2), 1), {}) for name, call in names.items()}


FUTHARK = "entry twice (x: f64) : f64 = 2 * x\nentry total [n] (xs: [n]f64) : f64 = reduce (+) 0 xs\n"
UP = at.fn(source=HEAD + "def up(x: at.f64[n]) -> at.f64[n]:\n    return x + 1.0\n")


def _larger(folder: Path) -> dict[str, Call]:
    """What is about more than one call: costs, memory, other machines, other languages."""
    given, futhark = np.ones(3), at.futhark(source=FUTHARK)
    return {
        "at.futhark": (at.futhark, (None,), {"source": FUTHARK}),
        "at.futhark()": (at.futhark, ("there_is_none.fut",), {}),
        "futhark.twice": (futhark.twice, (1.0,), {}),
        "futhark.total": (futhark.total, (given,), {}),
        "at.DeviceArray": (at.DeviceArray, (given, "cuda"), {"target": "cuda"}),
        "at.mpi.step": (at.mpi.step, (UP,), {"over": "n"}),
        "at.mpi.loop": (at.mpi.loop, (UP, 3), {"over": "n", "checkpoint": None, "every": 100}),
        "f.on": (F.on, ("cuda-emulated",), {"target": "cpu"}),
        "f.on()()": (F.on("cuda-emulated"), (given,), {}),
        "f.cost": (F.cost, (), {"n": 3, "no_such": 1}),
        "f.fits": (F.fits, ("1GB",), {"memory": "1GB", "n": 3}),
        "f.within": (UP.within, (), {"memory": "1GB"}),
        "f.within()()": (UP.within(memory="1GB"), (given,), {"x": given}),
        "f.distribute": (UP.distribute, (given,), {"over": "n", "parts": 2, "memory": "1GB"}),
        "f.plan_distribution": (UP.plan_distribution, (given,), {"over": "n", "parts": 2, "memory": "1GB"}),
        "f.stream": (UP.stream, (given,), {"out": str(folder / "s.zarr"), "memory": "1GB", "progress": False}),
        "f.certificate": (F.certificate, (), {}),
        "f.check": (F.check, (), {}),
    }


def _random() -> dict[str, Call]:
    key = at.random.key(0)
    found: dict[str, Call] = {
        "key": (at.random.key, (1,), {}),
        "split": (at.random.split, (key, 2), {"n": 2}),
        "fold_in": (at.random.fold_in, (key, 1), {}),
        "permutation": (at.random.permutation, (key, 3), {}),
        "choice": (at.random.choice, (key, 3, (2,), True, None), {"shape": (2,), "replace": True, "p": None}),
        "categorical": (at.random.categorical, (key, np.zeros(3), None), {"shape": None}),
        "normal": (at.random.normal, (key, (2,), 0.0, 1.0), {"shape": (2,), "loc": 0.0, "dtype": at.f64}),
        "integers": (at.random.integers, (key, (2,), 0, 5), {"low": 0}),
        "poisson": (at.random.poisson, (key, (2,), 3.0), {}),
        "bernoulli": (at.random.bernoulli, (key, (2,), 0.5), {}),
    }
    return {f"at.random.{name}": call for name, call in found.items()}


def _schedules(folder: Path) -> dict[str, Call]:
    steps = at.schedule(F)
    names = [name for name in vars(type(steps)) if not name.startswith("_") and callable(getattr(type(steps), name))]
    found: dict[str, Call] = {f"schedule.{name}": (getattr(steps, name), (np.ones(2), 1), {}) for name in names}
    loop = steps.loops()[0]
    found["schedule.split"] = steps.split, (loop, 4, "cut"), {"tail": "cut"}
    found["schedule.reassociate"] = steps.reassociate, (loop, 4), {"name": "lanes"}
    found["schedule.apply"] = steps.apply, (lambda s: s,), {}
    certificate, compiled = steps.certificate(), steps.compile()
    found["schedule.compile"] = steps.compile, ("3",), {}
    found["certificate.save"] = certificate.save, (folder / "c.cert",), {}
    found["certificate.check"] = certificate.check, (), {}
    found["Certificate().check"] = lambda data: Certificate(data).check(), ({},), {}
    found["compiled()"] = compiled, (np.ones(2),), {"x": np.ones(2)}
    found["compiled.memory"] = compiled.memory, (), {}
    return found


def _madl(folder: Path) -> dict[str, Call]:
    nd = at.madl(source=MADL)
    total, node = nd.total(), at.node(COUNT, 0)
    return {
        "madl.export_c": (nd.export_c, (folder / "madl", True), {"static": False, "wrap": False, "index": "int64_t", "no_such": 1}),
        "madl.c_file": (nd.c_file, (), {"static": False, "index": "int64_t"}),
        "operator()": (nd.twice, (np.ones(3),), {"n": 3}),
        "operator[]": (nd.twice.__getitem__, (3,), {}),
        "operator.interpret": (nd.twice.interpret, (np.ones(3),), {"n": 3}),
        "operator.instance": (nd.total.instance, ({}, True), {"interpret": True}),
        "operator.at": (nd.twice.at, ({}, ()), {}),
        "operator.memory": (nd.twice.memory, (), {}),
        "operator.copies": (nd.twice.copies, (), {}),
        "operator.overwritten": (nd.twice.overwritten, (), {}),
        "operator.c": (nd.twice.c, (), {"wrap": False, "index": "int64_t"}),
        "operator.export_c": (nd.twice.export_c, (folder / "op", True), {"index": "int64_t"}),
        "node operator()": (nd.total, (), {"n": 3}),
        "instance.step": (total.step, (1.0,), {}),
        "instance.reset": (total.reset, (), {}),
        "node.step": (node.step, (1,), {}),
        "node.reset": (node.reset, (), {}),
        "node()": (node, (), {}),
    }


def with_one(call: Call, value: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments with one place taken by a value: each in turn, one more than there are, each keyword."""
    _, args, keywords = call
    for k in range(len(args) + 1):
        yield (*args[:k], value, *args[k + 1 :]), {}
    for word in keywords:
        for k in sorted({0, min(1, len(args)), len(args)}):
            yield args[:k], {word: value}
