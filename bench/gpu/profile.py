"""Where the time of a call goes: the kernels of a program on the device, with how often each ran and how long (CUPTI, through PyTorch's profiler).

    python -m bench.gpu.profile [--only TEXT,...] [--numbers 1e8,1e6] [--seconds 100]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict

import numpy as np

import atoll as at
from bench.gpu.run import NUMBERS, chosen, size_for, wait
from bench.kernel import Kernel, torch

CALLS = 3
MOST = 8  # kernels that are shown


def profile(kernel: Kernel, numbers: int) -> str:
    """A line for every kernel of one program, the longest first."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as watching

    there = kernel.atoll.on("cuda")
    size = size_for(kernel, numbers)
    args = tuple(at.DeviceArray(a) if isinstance(a, np.ndarray) else a for a in kernel.data(size))
    for _ in range(3):
        there(*args)
    wait()
    start = time.perf_counter()
    for _ in range(CALLS):
        there(*args)
    wait()
    whole = (time.perf_counter() - start) / CALLS
    with watching(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(CALLS):
            there(*args)
        wait()
    found: dict[str, list[float]] = defaultdict(list)
    for event in seen.events():
        found[event.name].append(event.device_time)
    lines = [f"{kernel.name} {numbers:.0e} ({size}): {1e6 * whole:.1f} us a call"]
    for name, times in sorted(found.items(), key=lambda item: -sum(item[1]))[:MOST]:
        lines.append(f"    {sum(times) / CALLS:10.1f} us {len(times) / CALLS:8.1f} times {name[:70]}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu.profile", description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--numbers", type=lambda text: [int(float(x)) for x in text.split(",")], default=[NUMBERS[2], NUMBERS[1]])
    parser.add_argument("--seconds", type=float, default=100)
    options = parser.parse_args()
    start = time.monotonic()
    for kernel in chosen(options.only):
        for numbers in options.numbers:
            if time.monotonic() - start > options.seconds:
                return 0
            try:
                print(profile(kernel, numbers), flush=True)
            except Exception as error:  # noqa: BLE001  one kernel must not end the table
                print(f"{kernel.name} {numbers:.0e}: {type(error).__name__}: {error}"[:300], flush=True)
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
