"""`make test-firmware`: exported C on every compiler and board that is here. What a machine lacks is told, and skipped.

    warnings      every program at every -O, with gcc, clang and arm-none-eabi-gcc: none
    back to back  every program compiled for this machine, its 32-bit mode, Cortex-M0 and Cortex-M4 (in QEMU), against the oracle, bit by bit
    rules         cppcheck's MISRA addon: no required rule broken, the advisory ones counted
"""

from __future__ import annotations

import functools
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from atoll.madl.api import madl
from atoll.madl.back_to_back import Caller
from atoll.madl.c_file import CFile, Options
from atoll.madl.compiled import Compiled
from atoll.madl.targets import TARGETS
from tests.madl.boards import BOARDS, stimuli
from tests.madl.corpus import ACCEPTED
from tests.madl.harness import by_oracle, default_types, last, pick_sizes, random_inputs, same

WARNINGS = "-std=c99 -Wall -Wextra -Werror -pedantic -Wshadow -Wconversion -Wsign-conversion -Warray-bounds -Wcast-qual -Wundef".split()
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
EXAMPLES = Path(__file__).parents[2] / "examples" / "madl"
_ADVISORY = """1.2 2.3 2.4 2.5 2.6 2.7 4.2 5.9 8.7 8.9 8.11 8.13 10.5 11.4 11.5 12.1 12.3 12.4 13.3 13.4 15.1 15.4 15.5 17.8 18.4 18.5 19.2 20.1 20.5 20.10
21.12""".split()
_FIXED = ["q<<1,7>>", "uq<<3,5>>", "q<<1,15>>", "uq<<1,15>>", "q<<16,16>>", "q<<1,31>>", "uq<<1,31>>", "q<<32,0>>"]
_TYPES = "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64".split()


def advisory_rules() -> set[str]:
    """The rules of MISRA C:2012 that are advice; the others are required or mandatory."""
    return set(_ADVISORY)


@functools.cache
def _has_addon() -> bool:
    if shutil.which("cppcheck") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "x.c").write_text("int f(int a) { if (a) return 1; return 2; }\n")
        return bool(_misra(Path(folder) / "x.c"))


def _misra(file: Path) -> Counter[str]:
    command = ["cppcheck", "--addon=misra", "--std=c99", "--enable=style", "--suppress=missingIncludeSystem", "-q", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    return Counter(re.findall(r"misra-c2012-([0-9.]+)", done.stdout + done.stderr))


def broken_rules(file: Path) -> Counter[str] | None:
    """The rules that cppcheck finds broken in a file, with how often; None without cppcheck."""
    return _misra(file) if _has_addon() else None


def programs() -> dict[str, Compiled]:
    """The corpus, the examples, every operation on every type, and the defects that strangers found."""
    found = {name: last(source) for name, source in sorted(ACCEPTED.items())}
    for path in sorted(EXAMPLES.glob("*.madl")):
        found |= {f"{path.stem}.{c.name}": c for c in madl(path).computing()}
    found |= {f"board {name}": last(source) for name, (source, _) in BOARDS.items()}
    found |= {f"operations on {t}": last(_operations(t)) for t in _TYPES}
    found |= {f"operations on {t}": last(fixed_operations(t)) for t in _FIXED}
    return {name: c for name, c in found.items() if c.kind in ("func", "node")}


def _operations(t: str) -> str:
    rows = ["a + b", "a - b", "a * b", "a / b", "min(a, b)", "max(a, b)", "-a", "abs(a)", "sqrt(a)", "sign(a)", "clip(a, b, a)", "if a < b then a else a + b"]
    if t[0] != "f":
        rows += ["a % b", "bit_and(a, b)", "bit_or(a, b)", "bit_xor(a, b)", "bit_not(a)", "shift_left(a, b)", "shift_right(a, b)", "quot(a, b)", "rem(a, b)"]
        rows += ["clamp<<5>>(a)", "wrap<<5>>(a)"]
    rows += [f"{to}(a)" for to in (*_TYPES, "bool")] + ["a < b && a == b"]
    body = "; ".join(f"r{k} = {e}" for k, e in enumerate(rows))
    return f"let f_{t} (a of {t}, b of {t}) returns ({', '.join(f'r{k}' for k in range(len(rows)))}): {body}"


def fixed_operations(t: str) -> str:
    rows = ["a + b", "a - b", "a * b", "a / b", "-a", "abs(a)", "min(a, b)", "max(a, b)", "if a < b then a else b", "a == b", "a >= b", "clip(a, b, a)"]
    rows += [f"{to}(a)" for to in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "bool", "q<<1,7>>", "uq<<2,6>>", "q<<8,8>>", "uq<<16,0>>", "q<<2,30>>", "uq<<1,31>>")]
    rows += [f"{t}({c})" for c in ("k", "u8(k)", "u64(k)", "i64(k)*4096", "x", "f32(x)", "k > 0")]
    body = "; ".join(f"r{k} = {e}" for k, e in enumerate(rows))
    name = "f_" + "_".join(re.findall(r"\w+", t))
    return f"let {name} (a of {t}, b of {t}, k of i32, x of f64) returns ({', '.join(f'r{k}' for k in range(len(rows)))}): {body}"


def warnings(ops: list[Compiled]) -> int:
    wrong = 0
    for options in (Options(), Options(index="int32_t", restrict=True), Options(wrap=False, static=True)):
        levels = LEVELS if options == Options() else ("-O2",)
        fixed = [c for c in ops if not options.static or not any(b for b in c.layout.params() if b.role == "state" and c.graph.sizes)]
        file = CFile("all", fixed, options)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "all.h").write_text(file.header())
            (folder / "all.c").write_text(file.source())
            for target in TARGETS.values():
                for level in levels if shutil.which(target.compiler) else ():
                    done = target.check("all.c", folder, [*WARNINGS, level])
                    wrong += done.returncode != 0
                    if done.returncode != 0:
                        print(f"WRONG: {target.name} {level} warns:\n{done.stderr[:800]}")
    return wrong


def back_to_back(named: dict[str, Compiled]) -> int:
    wrong = 0
    for target in TARGETS.values():
        why = target.missing()
        if why is not None:
            print(f"{target.name}: skipped, {why}")
            continue
        done = 0
        for name, op in named.items():
            rng = random.Random(name)
            try:
                sizes = pick_sizes(op, rng)
                board = name.removeprefix("board ")
                sizes = {sym: 9 for sym in op.graph.sizes} if board in BOARDS else sizes
                inputs = stimuli(board, 60) if board in BOARDS else random_inputs(op, sizes, rng, 3)
                wanted = by_oracle(op, sizes, inputs)
                found = Caller(op, tuple(default_types(op).values()), sizes, Options(index=rng.choice(["int64_t", "int32_t"]))).run(inputs, target, ["-O2"])
            except Exception as problem:  # noqa: BLE001  told with its name, and counted
                wrong += 1
                print(f"WRONG: {name} on {target.name}: {problem}")
                continue
            done += 1
            if not same(found, wanted):
                wrong += 1
                print(f"WRONG: {name} on {target.name} gives {found}, the oracle {wanted}")
        print(f"{target.name}: {done} programs, every bit as the oracle's" if not wrong else f"{target.name}: {done} programs run", flush=True)
    return wrong


def rules(ops: list[Compiled]) -> int:
    file = CFile("all", ops)
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "all.h").write_text(file.header())
        (Path(name) / "all.c").write_text(file.source())
        found = broken_rules(Path(name) / "all.c")
    if found is None:
        print("rules: skipped, there is no cppcheck with its MISRA addon")
        return 0
    required = {rule: n for rule, n in found.items() if rule not in advisory_rules()}
    advice = ", ".join(f"{rule} ({n})" for rule, n in sorted(found.items()) if rule in advisory_rules())
    print(f"MISRA C:2012 of {len(ops)} programs: required rules broken: {required or 'none'}; advisory: {advice or 'none'}")
    return len(required)


def main() -> int:
    named = programs()
    plain = [c for c in named.values() if not c.graph.generics]
    print(f"{len(named)} programs")
    wrong = warnings(plain)
    print(f"warnings: {'none' if not wrong else wrong} at {', '.join(LEVELS)}", flush=True)
    wrong += rules(plain)
    wrong += back_to_back(named)
    print("all as it should be" if not wrong else f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
