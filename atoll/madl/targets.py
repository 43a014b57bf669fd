"""Machines that exported C is compiled for and run on: this one, its 32-bit mode, and boards in QEMU.

A target is a compiler with flags and, where its programs do not run here, the command that runs them. Boards print through semihosting; they get a
vector table, and memory as their linker scripts say.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_STARTUP = """/* Start of a Cortex-M under QEMU: stack and entry, then newlib's own start, which talks to QEMU. */
extern unsigned long at_stack_top;
extern void _start(void);
void at_reset(void);
void at_halt(void);
void at_halt(void) { for (;;) { } }
void at_reset(void) {
#if defined(__ARM_FP)
    *(volatile unsigned long *)0xE000ED88ul |= 0xFul << 20; /* the floating-point unit on */
    __asm volatile("dsb\\n isb");
#endif
    _start();
    for (;;) { }
}
__attribute__((section(".vectors"), used)) void *const at_vectors[16] = {&at_stack_top, (void *)at_reset, (void *)at_halt, (void *)at_halt};
"""

_SCRIPT = """MEMORY {{ FLASH (rx) : ORIGIN = 0x0, LENGTH = {flash} RAM (rwx) : ORIGIN = 0x20000000, LENGTH = {ram} }}
ENTRY(at_reset)
SECTIONS {{
  .text : {{ KEEP(*(.vectors)) *(.text*) *(.rodata*) KEEP(*(.init)) KEEP(*(.fini)) *(.eh_frame*) }} > FLASH
  .ARM.extab : {{ *(.ARM.extab*) }} > FLASH
  .ARM.exidx : {{ __exidx_start = .; *(.ARM.exidx*) __exidx_end = .; }} > FLASH
  .data : {{ *(.data*) . = ALIGN(8); }} > RAM
  .bss : {{ __bss_start__ = .; *(.bss*) *(COMMON) . = ALIGN(8); __bss_end__ = .; }} > RAM
  end = .; __end__ = .;
  at_stack_top = ORIGIN(RAM) + LENGTH(RAM);
  __stack = at_stack_top;
}}
"""


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    compiler: str
    flags: tuple[str, ...] = ()
    board: str | None = None  # of qemu-system-arm
    flash: str = "4M"
    ram: str = "4M"

    @property
    def cross(self) -> bool:
        return self.board is not None

    def missing(self) -> str | None:
        """Why this target cannot be used here, or None."""
        if shutil.which(self.compiler) is None:
            return f"there is no {self.compiler}"
        if self.cross and shutil.which("qemu-system-arm") is None:
            return "there is no qemu-system-arm"
        if "-m32" in self.flags and not _compiles(self):
            return f"{self.compiler} has no 32-bit libraries"
        return None

    def compile(self, sources: list[str], output: str, folder: Path, flags: list[str]) -> subprocess.CompletedProcess[str]:
        """Compile and link C files of a folder to a program."""
        command = [self.compiler, *flags, *self.flags, *sources]
        if self.cross:
            (folder / "at_startup.c").write_text(_STARTUP)
            (folder / "at_board.ld").write_text(_SCRIPT.format(flash=self.flash, ram=self.ram))
            command = [c for c in command if not c.startswith("-W") and c != "-pedantic"]
            command += ["at_startup.c", "-T", "at_board.ld", "--specs=rdimon.specs"]
        return subprocess.run([*command, "-o", output, "-lm"], cwd=folder, capture_output=True, text=True, check=False)

    def check(self, source: str, folder: Path, flags: list[str]) -> subprocess.CompletedProcess[str]:
        """Compile one file to an object, with every warning that is asked for."""
        return subprocess.run([self.compiler, *flags, *self.flags, "-c", source, "-o", f"{source}.o"], cwd=folder, capture_output=True, text=True, check=False)

    def run(self, program: str, folder: Path, seconds: float = 60) -> subprocess.CompletedProcess[bytes]:
        command = [f"./{program}"]
        if self.board is not None:
            command = ["qemu-system-arm", "-M", self.board, "-nographic", "-monitor", "none", "-serial", "null"]
            command += ["-semihosting-config", "enable=on,target=native", "-kernel", program]
        return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=seconds, stdin=subprocess.DEVNULL)


def _compiles(target: Target) -> bool:
    done = subprocess.run(
        [target.compiler, *target.flags, "-x", "c", "-", "-o", "/dev/null"], input="#include <stdio.h>\nint main(void) { return 0; }\n", text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0


_M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")

TARGETS = {
    t.name: t
    for t in (
        Target("gcc", "gcc"),
        Target("clang", "clang"),
        Target("m32", "gcc", ("-m32", "-msse2", "-mfpmath=sse")),
        Target("cortex-m0", "arm-none-eabi-gcc", ("-mcpu=cortex-m0", "-mthumb"), "microbit", "256K", "16K"),
        Target("cortex-m4", "arm-none-eabi-gcc", _M4, "mps2-an386"),
    )
}


def available() -> list[Target]:
    return [t for t in TARGETS.values() if t.missing() is None] if sys.platform != "win32" else []
