"""One process of the bench: every program, Atoll's schedule beside its peers. Prints one line of JSON per program."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.timing import measure

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "schedules"))

try:
    from bench.schedules import halide_side
except ImportError:
    halide_side = None  # type: ignore[assignment]

Call = Callable[[], Any]


def example(name: str) -> Any:
    return importlib.import_module(name)


def report(name: str, schedule: Callable[[], Any], args: tuple[Any, ...], peers: dict[str, Call | None], tolerance: float = 1e-3) -> None:
    """Check, time and print one program. A peer is a call, or None when it is not there; every call gives a new array."""
    schedule()  # caches and imports are warm
    start = time.process_time()
    s = schedule()
    scheduled = time.process_time() - start
    start = time.process_time()
    _ = s.lowered
    proved = time.process_time() - start
    fast = s.compile()
    wanted = fast(*args)
    contenders: dict[str, Call] = {"atoll": lambda: fast(*args)}
    for peer, call in peers.items():
        if call is not None:
            np.testing.assert_allclose(call(), wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
            contenders[peer] = call
    alone = os.environ.get("ATOLL_NUM_THREADS") == "1"
    times = measure(contenders, seconds=1.5, rounds=7, clock=time.process_time if alone else time.perf_counter)
    ms = {who: t.median * 1e3 for who, t in times.items()}
    print(json.dumps({"name": name, "atoll": ms.pop("atoll"), "peers": ms, "scheduling": scheduled, "proofs": proved}), flush=True)


def blurs(n: int) -> None:
    from atoll.schedule.library import sliding_window

    blur = example("blur")
    image = np.random.default_rng(0).standard_normal((n, n)).astype(np.float32)

    def peers(kind: str) -> dict[str, Any]:
        return {"halide": halide_side and halide_side.blur(image, kind)}

    def two() -> Any:
        s = blur.two_stage_tails().vectorize("bx/x_1", 16).parallel("bx/y_1")
        return s.vectorize("x", 16).parallel("y")

    def tiled() -> Any:
        s = blur.two_stage().partition("y", [1, blur.n - 1]).partition("y_1/x", [1, blur.m - 1]).tile(("y_1", "y_1/x_1"), (32, 256))
        return s.stage("bx", at="x_1_o", elsewhere="inline").vectorize("y_1_o/x_1_i", 16).vectorize("bx.x", 16).parallel("y_1_o")

    def sliding() -> Any:
        s = blur.two_stage().apply(sliding_window, "bx", "y", strip=32)
        return s.partition("bx.x", [1, blur.m - 1]).vectorize("bx.x_1", 16).vectorize("x", 16)

    report(f"blur fused {n}", lambda: blur.fused_tails().vectorize("y_1/x_1", 16).parallel("y_1"), (image,), peers("fused"))
    report(f"blur two stages {n}", two, (image,), peers("two"))
    report(f"blur tiled {n}", tiled, (image,), peers("tiled"))
    if n <= 2000:
        report(f"blur tiled 64x64 as in ATL {n}", lambda: blur.tiled(64, 64).parallel("y_1_o_0"), (image,), peers("tiled64"))
        report(f"blur sliding window {n}", sliding, (image,), peers("sliding"))


def products(n: int, halide: bool) -> None:
    matmul = example("matmul")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    peers: dict[str, Any] = {"openblas": lambda: a @ b}
    if halide and halide_side is not None:
        peers["halide"] = halide_side.matmul(a, b)
    report(f"matrix product {n}", lambda: matmul.packed(6, 64), (a, b), peers)


def unsharps(n: int) -> None:
    unsharp = example("unsharp")
    image = np.random.default_rng(2).standard_normal((n + 4, n + 4)).astype(np.float32)
    report(f"unsharp {n}", lambda: unsharp.strips(32, 16), (image,), {"halide": halide_side and halide_side.unsharp(image)})


if __name__ == "__main__":
    short = "--short" in sys.argv
    for size in (2000,) if short else (2000, 4096):
        blurs(size)
    products(1000, halide=True)
    if not short:
        products(2048, halide=True)
    for size in (2000,) if short else (2000, 4096):
        unsharps(size)
