"""Ten programs of firmware, as an engineer writes them who has only the docs, each with what it computes in Python. Used by test_boards.py and by `make test-firmware`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Row = tuple[Any, ...]

MOTOR = """
// Field-oriented control of one motor: Clarke and Park, two regulators with anti-windup, the inverse, and a slew of the reference.
const dt = 0.0001
type abc = { a of f32, b of f32, c of f32 }

let pi (e of f32, kp of f32, ki of f32, most of f32, off of bool) returns (u of f32):
  i init 0.0;
  free = kp*e + last i;
  u = clip(free, -most, most);
  i = if off then 0.0 else if free == u then last i + ki*e else last i + 0.0

let foc (wanted of f32, p of abc, s of f32, c of f32, off of bool) returns (v of abc):
  goal init 0.0 = clip(wanted, !last goal - 0.5, !last goal + 0.5);
  alpha = 0.6666667*(p.a - 0.5*p.b - 0.5*p.c);
  beta = 0.57735026*(p.b - p.c);
  d = alpha*c + beta*s; q = beta*c - alpha*s;
  ud = pi(0.0 - d, 0.8, 0.05, 24.0, off);
  uq = pi(goal - q, 0.8, 0.05, 24.0, off);
  ua = ud*c - uq*s; ub = ud*s + uq*c;
  v = abc(!ua, 0.8660254*ub - 0.5*ua, 0.0 - 0.5*ua - 0.8660254*ub)
"""

CAN = """
// A frame of eight bytes: an 11-bit speed, a 12-bit signed torque, flags, a counter of four bits and a checksum (SAE J1850, bit by bit).
let crc_step (crc of u8, byte of u8) returns (r of u8):
  start = crc ^ byte;
  forward <<8>> returns (r = {x} init start): x = (if (last x & 0x80) != 0 then shift_left(!last x, 1) ^ 0x1D else shift_left(!last x, 1))

let pack (speed of u16, torque of i16, brake of bool, gear of u8) returns (frame of [8]u8):
  count init 15 = (last count + 1) & 0x0F of u8;
  t = u16(torque) & 0x0FFF;
  b0 = u8(speed & 0xFF);
  b1 = u8(shift_right(speed, 8) & 0x07) | u8(shift_left(t & 0x1F, 3) & 0xF8);
  b2 = u8(shift_right(t, 5));
  b3 = (if brake then 0x80 else 0x00) | shift_left(gear & 0x07, 4) | count;
  payload = [|b0, b1, b2, b3, 0xA5, 0x5A, 0x00|];
  forward ([b] = payload) returns (sum = {c}): c init 0xFF = crc_step(!last c, b) end;
  frame = !payload ++ [|~sum|]
"""

DEBOUNCE = """
// A button: pressed for four cycles counts, released for four does too; held for ten more it repeats every third cycle.
type key = up | falling | down | rising

let debounce (raw of bool) returns (pressed of bool, click of bool, state_of of key):
  automaton state_of of key:
    state up: pressed = false; click = false; until raw then falling
    state falling:
      n init 1 = last n + 1;
      pressed = false; click = n >= 4 && raw;
      until not raw then up; until n >= 4 then down
    state down:
      held init 0 = last held + 1;
      pressed = true; click = held > 10 && (held - 10) % 3 == 0;
      until not raw then rising
    state rising:
      m init 1 = last m + 1;
      pressed = true; click = false;
      until raw resume down; until m >= 4 then up
  end
"""

FUSION = """
// A complementary filter in Q15: a gyroscope's rate and an accelerometer's angle, and the rate's bias.
let fuse (rate of q<<1,15>>, angle of q<<1,15>>, still of bool) returns (tilt of q<<1,15>>, bias of q<<1,15>>):
  bias init 0.0 = if still then last bias + 0.0078125*(rate - last bias) else last bias + 0.0;
  turned = last tilt + (rate - bias)*0.01;
  tilt init 0.0 = 0.98*turned + 0.02*angle
"""

RING = """
// A ring buffer of eight samples: what falls out, the mean of what is in it, and the place that is written next.
let ring (x of i16, push of bool) returns (oldest of i16, mean of i16, filled of u8):
  store init [8]0 of [8]i16;
  head init clamp<<8>>(0);
  count init 0 of u8;
  oldest = !(last store).[last head];
  if push then
    store = last store with [last head] = !x;
    head = wrap<<8>>(last head + 1);
    count = min(last count + 1, 8)
  else
    store = last store; head = last head; count = last count
  end;
  forward ([v] = store) returns (total = {t}): t init 0 of i32 = last t + i32(v) end;
  mean = i16(quot(total, 8));
  filled = !count
"""

CRC32 = """
// CRC-32 of a block by a table of sixteen nibbles.
const table = [|0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C|]

let nibble (crc of u32, n of u32) returns (r of u32): r = shift_right(crc, 4) ^ table.[wrap<<16>>(crc ^ n)]

let crc32 (bytes of [_]u8) returns (r of u32):
  forward ([b] = bytes) returns (c = {x}):
    x init 0xFFFFFFFF = nibble(nibble(!last x, u32(b)), u32(shift_right(b, 4)))
  end;
  r = ~c
"""

PWM = """
// Three channels of centre-aligned PWM with dead time: the counter goes up and down, duties are taken over at the bottom only.
let pwm (duty of [3]u8) returns (high of [3]bool, low of [3]bool, bottom of bool):
  count init 0; rising init true; taken init [3]0 of [3]u8;
  bottom = last count == 0;
  if bottom then taken = !duty else taken = last taken end;
  up = if last count >= 99 then false else if last count <= 0 then true else last rising || false;
  rising = !up;
  now = !last count;
  count = if up then now + 1 else now - 1;
  forward ([d] = taken) returns (high = [h]) (low = [l]):
    h = now < i32(d) - 2;
    l = now > i32(d) + 2
  end
"""

CHARGE = """
// State of charge: coulombs are counted, and pulled towards the voltage's table while no current flows.
const volts = [|3.0, 3.45, 3.55, 3.62, 3.7, 3.8, 3.92, 4.05, 4.2|]

let looked_up (v of f64) returns (s of f64):
  low ++ [|_|] = volts; [|_|] ++ high = volts;
  forward [k] ([a] = low) ([b] = high) returns (s = {r}):
    r init 0.0 = if v >= b then f64(k + 1)/8.0 else if v > a then (f64(k) + (v - a)/(b - a))/8.0 else last r + 0.0
  end

let charge (amps of f64, v of f64) returns (soc of f64, rest of int):
  quiet init 0 = if abs(amps) < 0.05 then min(last quiet + 1, 1000) else 0;
  counted = last soc + amps*0.1/3600.0;
  target = looked_up(v);
  soc init 0.5 = clip(if quiet > 5 then counted + 0.01*(target - counted) else counted + 0.0, 0.0, 1.0);
  rest = !quiet
"""

BEAMS = """
// Delay and sum: four microphones, eight samples of history each, three directions with whole delays.
const delays = [|[|0, 0, 0, 0|], [|0, 1, 2, 3|], [|6, 4, 2, 0|]|]

let beams (x of [4]f32) returns (y of [3]f32, loudest of idx<<3>>):
  past init [4][8]0.0;
  forward ([old] = last past) ([v] = x) returns (past = [new]):
    forward ([o] = old) returns (new = [n]): n = !!last (!o init !v) end
  end;
  forward ([d] = delays) returns (y = [s]):
    forward ([k] = d) ([line] = past) returns (s = {t}): t init 0.0 = last t + 0.25*line.[clamp<<8>>(k)] end
  end;
  forward [i] ([s] = y) returns (_ = {m}) (loudest = {best}):
    m init 0.0 = if abs(s) > last m then abs(s) else last m + 0.0;
    best init clamp<<3>>(0) = clamp<<3>>(if abs(s) > last m then i else i32(last best))
  end
"""

PROTOCOL = """
// A frame on a serial line: 0x7E, a length, that many bytes, their sum. A byte that does not come in time gives up.
type wait = start | long | body | sum

let receiver (byte of u8, there of bool) returns (done of bool, good of bool, buffer of [6]u8, length of u8):
  buffer init [6]0; length init 0; check init 0;
  automaton:
    state start:
      buffer = last buffer; length = last length; check = last check; done = false; good = false;
      until there && byte == 0x7E then long
    state long:
      check = 0; buffer = last buffer;
      length = if there then min(byte, 6) else last length | 0;
      done = false; good = false;
      until there && byte == 0 then sum; until there then body
    state body:
      n init clamp<<7>>(0);
      late init 0 = if there then 0 else last late + 1;
      length = last length;
      if there && i32(last n) < 6 then
        buffer = last buffer with [clamp<<6>>(i32(last n))] = !byte;
        check = last check + byte;
        n = clamp<<7>>(i32(last n) + 1)
      else buffer = last buffer; check = last check; n = last n end;
      done = false; good = false;
      until late > 3 then start; until i32(n) >= i32(length) then sum
    state sum:
      buffer = last buffer; length = last length; check = last check;
      done = !there; good = there && byte == check;
      until there then start
  end
"""


# -- the same in Python

f32 = np.float32


def motor() -> Callable[..., Row]:
    goal, integrals = f32(0), [f32(0), f32(0)]

    def pi(k: int, e: Any, off: bool) -> Any:
        free = f32(0.8) * e + integrals[k]
        u = min(max(free, f32(-24)), f32(24))
        integrals[k] = f32(0) if off else integrals[k] + f32(0.05) * e if free == u else integrals[k] + f32(0)
        return u

    def step(wanted: Any, p: Any, s: Any, c: Any, off: bool) -> Row:
        nonlocal goal
        goal = min(max(wanted, goal - f32(0.5)), goal + f32(0.5))
        alpha = f32(0.6666667) * (p[0] - f32(0.5) * p[1] - f32(0.5) * p[2])
        beta = f32(0.57735026) * (p[1] - p[2])
        d, q = alpha * c + beta * s, beta * c - alpha * s
        ud, uq = pi(0, f32(0) - d, off), pi(1, goal - q, off)
        ua, ub = ud * c - uq * s, ud * s + uq * c
        return ((ua, f32(0.8660254) * ub - f32(0.5) * ua, f32(0) - f32(0.5) * ua - f32(0.8660254) * ub),)

    return step


def can() -> Callable[..., Row]:
    count = 15

    def step(speed: Any, torque: Any, brake: bool, gear: Any) -> Row:
        nonlocal count
        count = (count + 1) & 15
        t = int(torque) & 0xFFF
        payload = [int(speed) & 0xFF, (int(speed) >> 8 & 7) | (t & 0x1F) << 3, t >> 5, (0x80 if brake else 0) | (int(gear) & 7) << 4 | count, 0xA5, 0x5A, 0]
        crc = 0xFF
        for byte in payload:
            crc ^= byte
            for _ in range(8):
                crc = (crc << 1 ^ 0x1D) & 0xFF if crc & 0x80 else crc << 1 & 0xFF
        return (np.array([*payload, crc ^ 0xFF], np.uint8),)

    return step


def debounce() -> Callable[..., Row]:
    mode, n, held = "up", 0, 0

    def step(raw: bool) -> Row:
        nonlocal mode, n, held
        here = mode
        if here == "up":
            found = (False, False)
            if raw:
                mode, n = "falling", 1
        elif here == "falling":
            n += 1
            found = (False, n >= 4 and raw)
            if not raw:
                mode = "up"
            elif n >= 4:
                mode, held = "down", 0
        elif here == "down":
            held += 1
            found = (True, held > 10 and (held - 10) % 3 == 0)
            if not raw:
                mode, n = "rising", 1
        else:
            n += 1
            found = (True, False)
            if raw:
                mode = "down"
            elif n >= 4:
                mode = "up"
        return (*found, ("up", "falling", "down", "rising").index(here))

    return step


def fusion() -> Callable[..., Row]:
    def fix(x: float) -> int:
        return max(-32768, min(32767, math.floor(x + 0.5)))

    def times(a: int, b: float) -> int:
        return fix(a * fix(b * 32768) / 32768)

    def add(a: int, b: int) -> int:
        return max(-32768, min(32767, a + b))

    bias = tilt = 0

    def step(rate: Any, angle: Any, still: bool) -> Row:
        nonlocal bias, tilt
        r, a = int(rate), int(angle)
        bias = add(bias, times(add(r, -bias), 0.0078125)) if still else bias
        turned = add(tilt, times(add(r, -bias), 0.01))
        tilt = add(times(turned, 0.98), times(a, 0.02))
        return (tilt, bias)

    return step


def ring() -> Callable[..., Row]:
    store, head, count = [0] * 8, 0, 0

    def step(x: Any, push: bool) -> Row:
        nonlocal head, count
        oldest = store[head]
        if push:
            store[head] = int(x)
            head, count = (head + 1) % 8, min(count + 1, 8)
        total = sum(store)
        return (oldest, int(total / 8), count)

    return step


def crc32() -> Callable[..., Row]:
    import zlib

    return lambda block: (zlib.crc32(bytes(block.tolist())),)


def pwm() -> Callable[..., Row]:
    count, rising, taken = 0, True, [0, 0, 0]

    def step(duty: Any) -> Row:
        nonlocal count, rising, taken
        now, bottom = count, count == 0
        if bottom:
            taken = [int(d) for d in duty]
        rising = False if now >= 99 else True if now <= 0 else rising
        count = now + 1 if rising else now - 1
        return (np.array([now < d - 2 for d in taken]), np.array([now > d + 2 for d in taken]), bottom)

    return step


def charge() -> Callable[..., Row]:
    volts = [3.0, 3.45, 3.55, 3.62, 3.7, 3.8, 3.92, 4.05, 4.2]
    soc, quiet = 0.5, 0

    def step(amps: Any, v: Any) -> Row:
        nonlocal soc, quiet
        quiet = min(quiet + 1, 1000) if abs(amps) < 0.05 else 0
        target = 0.0
        for k in range(8):
            if v >= volts[k + 1]:
                target = (k + 1) / 8.0
            elif v > volts[k]:
                target = (k + (v - volts[k]) / (volts[k + 1] - volts[k])) / 8.0
        counted = soc + amps * 0.1 / 3600.0
        soc = min(max(counted + 0.01 * (target - counted) if quiet > 5 else counted, 0.0), 1.0)
        return (soc, quiet)

    return step


def beams() -> Callable[..., Row]:
    past = [[f32(0)] * 8 for _ in range(4)]
    delays = [[0, 0, 0, 0], [0, 1, 2, 3], [6, 4, 2, 0]]

    def step(x: Any) -> Row:
        for line, v in zip(past, x, strict=True):
            line[:] = [v, *line[:-1]]
        y = []
        for d in delays:
            t = f32(0)
            for k, line in zip(d, past, strict=True):
                t = t + f32(0.25) * line[k]
            y.append(t)
        best, most = 0, f32(0)
        for i, s in enumerate(y):
            if abs(s) > most:
                best, most = i, abs(s)
        return (np.array(y, f32), best)

    return step


def protocol() -> Callable[..., Row]:
    buffer, length, check, mode, n, late = [0] * 6, 0, 0, "start", 0, 0

    def step(byte: Any, there: bool) -> Row:
        nonlocal length, check, mode, n, late
        b, done, good = int(byte), False, False
        if mode == "start":
            mode = "long" if there and b == 0x7E else mode
        elif mode == "long":
            check = 0
            if there:
                length = min(b, 6)
                mode, n, late = "sum" if b == 0 else "body", 0, 0
        elif mode == "body":
            late = 0 if there else late + 1
            if there and n < 6:
                buffer[n], check, n = b, (check + b) & 0xFF, n + 1
            mode = "start" if late > 3 else "sum" if n >= length else mode
        else:
            done, good = there, there and b == check
            mode = "start" if there else mode
        return (done, good, np.array(buffer, np.uint8), length)

    return step


# -- stimuli


def _messages(rng: Any) -> Iterator[Row]:
    while True:
        size = int(rng.integers(0, 7))
        body = [int(v) for v in rng.integers(0, 256, size)]
        total = (sum(body) + int(rng.random() < 0.2)) & 0xFF
        for byte in [int(rng.integers(0, 100)), 0x7E, size, *body, total]:
            for _ in range(int(rng.choice([0, 0, 0, 1, 5]))):
                yield (np.uint8(0), np.bool_(False))
            yield (np.uint8(byte), np.bool_(True))


def stimuli(name: str, cycles: int) -> list[Row]:
    """Inputs that reach the program's corners."""
    rng = np.random.default_rng(len(name))
    messages, sticky = _messages(rng), [False]

    def now_and_then(p: float) -> Any:
        sticky[0] ^= bool(rng.random() < p)
        return np.bool_(sticky[0])

    def row(k: int) -> Row:
        angle = 0.3 * k
        return {
            "motor": lambda: (f32(rng.choice([0.0, 4.0, 40.0])), tuple(f32(v) for v in rng.normal(0, 5, 3)), f32(math.sin(angle)), f32(math.cos(angle)), np.bool_(rng.random() < 0.1)),
            "can": lambda: (np.uint16(rng.integers(0, 2048)), np.int16(rng.integers(-2048, 2048)), np.bool_(rng.random() < 0.5), np.uint8(rng.integers(0, 256))),
            "debounce": lambda: (now_and_then(0.15),),
            "fusion": lambda: (np.int16(rng.integers(-32768, 32768)), np.int16(rng.integers(-32768, 32768)), np.bool_(rng.random() < 0.5)),
            "ring": lambda: (np.int16(rng.integers(-32768, 32768)), np.bool_(rng.random() < 0.7)),
            "crc32": lambda: (rng.integers(0, 256, 9).astype(np.uint8),),
            "pwm": lambda: (rng.integers(0, 120, 3).astype(np.uint8),),
            "charge": lambda: (np.float64(rng.choice([0.0, 0.01, 30.0, -80.0, 4000.0])), np.float64(rng.uniform(2.9, 4.3))),
            "beams": lambda: (rng.normal(0, 1, 4).astype(f32),),
            "protocol": lambda: next(messages),
        }[name]()  # fmt: skip

    return [row(k) for k in range(cycles)]


BOARDS: dict[str, tuple[str, Callable[[], Callable[..., Row]]]] = {
    "motor": (MOTOR, motor), "can": (CAN, can), "debounce": (DEBOUNCE, debounce), "fusion": (FUSION, fusion), "ring": (RING, ring),
    "crc32": (CRC32, crc32), "pwm": (PWM, pwm), "charge": (CHARGE, charge), "beams": (BEAMS, beams), "protocol": (PROTOCOL, protocol),
}  # fmt: skip
