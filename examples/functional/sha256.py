"""SHA-256 over lists: the message, its blocks and the schedule of a block are linked lists (CertiCoq's third benchmark)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import atoll as at
from atoll import i64, u8, u32, u64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")


def _fraction_words(root: float, count: int) -> np.ndarray[Any, Any]:
    """The first 32 bits of the fractions of roots of the first primes: where SHA's constants come from."""
    from fractions import Fraction

    primes = [p for p in range(2, 312) if all(p % q for q in range(2, p))][:count]
    power = round(1 / root)
    found = []
    for p in primes:
        low, high = 0, p << 32  # floor(p ** root * 2 ** 32) by bisection in whole numbers
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if Fraction(middle, 2**32) ** power <= p else (low, middle)
        found.append(low % 2**32)
    return np.array(found, np.uint32)


K = _fraction_words(1 / 3, 64)
H = _fraction_words(1 / 2, 8)


@at.record
class State:
    """The eight words of the hash so far."""

    a: u32
    b: u32
    c: u32
    d: u32
    e: u32
    f: u32
    g: u32
    h: u32


@at.fn
def rotate_word(x: u32, k: u32) -> u32:
    """x turned right by k bits."""
    return (x >> k) | (x << (u32(32) - k))


@at.fn
def schedule(window: List[u32], left: i64) -> List[u32]:
    """The words of a block that are left, from the last sixteen."""
    if left == 0:
        return Nil()
    match window:
        case Cons(w0, Cons(w1, rest)):
            w9, w14 = nth(rest, 7), nth(rest, 12)
            s0 = rotate_word(w1, 7) ^ rotate_word(w1, 18) ^ (w1 >> u32(3))
            s1 = rotate_word(w14, 17) ^ rotate_word(w14, 19) ^ (w14 >> u32(10))
            return Cons(w0, schedule(Cons(w1, snoc(rest, w0 + s0 + w9 + s1)), left - 1))
        case _:
            return Nil()


@at.fn
def nth(xs: List[u32], k: i64) -> u32:
    """Element k."""
    match xs:
        case Cons(x, rest):
            return x if k == 0 else nth(rest, k - 1)
        case Nil():
            return 0


@at.fn
def snoc(xs: List[u32], x: u32) -> List[u32]:
    """xs with x at its end."""
    match xs:
        case Nil():
            return Cons(x, Nil())
        case Cons(y, rest):
            return Cons(y, snoc(rest, x))


@at.fn
def rounds(words: List[u32], k: i64, s: State) -> State:
    """The rounds of one block."""
    match words:
        case Nil():
            return s
        case Cons(w, rest):
            s1 = rotate_word(s.e, 6) ^ rotate_word(s.e, 11) ^ rotate_word(s.e, 25)
            choice = (s.e & s.f) ^ (~s.e & s.g)
            t1 = s.h + s1 + choice + K[k] + w
            s0 = rotate_word(s.a, 2) ^ rotate_word(s.a, 13) ^ rotate_word(s.a, 22)
            majority = (s.a & s.b) ^ (s.a & s.c) ^ (s.b & s.c)
            return rounds(rest, k + 1, State(t1 + s0 + majority, s.a, s.b, s.c, s.d + t1, s.e, s.f, s.g))


@at.fn
def take_words(bytes_: List[u8], count: i64) -> (List[u32], List[u8]):
    """`count` words off the front of the message, and the rest."""
    if count == 0:
        return Nil(), bytes_
    match bytes_:
        case Cons(a, Cons(b, Cons(c, Cons(d, rest)))):
            word = (u32(a) << u32(24)) | (u32(b) << u32(16)) | (u32(c) << u32(8)) | u32(d)
            words, after = take_words(rest, count - 1)
            return Cons(word, words), after
        case _:
            return Nil(), Nil()


@at.fn
def blocks(bytes_: List[u8], s: State) -> State:
    """All blocks of the message."""
    match bytes_:
        case Nil():
            return s
        case _:
            words, rest = take_words(bytes_, 16)
            t = rounds(schedule(words, 64), 0, s)
            return blocks(rest, State(s.a + t.a, s.b + t.b, s.c + t.c, s.d + t.d, s.e + t.e, s.f + t.f, s.g + t.g, s.h + t.h))


@at.fn
def padding(zeros_: i64, bits: u64) -> List[u8]:
    """A one, zeros, and the length of the message in bits."""
    tail: List[u8] = Nil()
    for k in range(8):
        tail = Cons(u8((bits >> u64(8 * k)) & u64(255)), tail)
    for _ in range(zeros_):
        tail = Cons(u8(0), tail)
    return Cons(u8(128), tail)


@at.fn
def sha256(message: u8[n]) -> u32[8]:
    """The hash of a message."""
    bytes_ = padding((119 - n % 64) % 64, u64(8 * n))
    for k in range(n):
        bytes_ = Cons(message[n - 1 - k], bytes_)
    s = blocks(bytes_, State(H[0], H[1], H[2], H[3], H[4], H[5], H[6], H[7]))
    return [s.a, s.b, s.c, s.d, s.e, s.f, s.g, s.h]


@at.fn
def repeated(message: u8[n], times: i64) -> u32:
    """The first word of hashes of the message with its first byte counted up."""
    total: u32 = 0
    for k in range(times):
        m = at.copy(message)
        m[0] = u8(k % 256)
        total = total ^ sha256(m)[0]
    return total


def digest(message: bytes) -> str:
    """The hash in hexadecimal."""
    return "".join(f"{int(w):08x}" for w in sha256(np.frombuffer(message, np.uint8)))


def check() -> list[Any]:
    """Pairs of what Atoll and Python's hashlib say."""
    texts = [b"", b"abc", b"a" * 55, b"b" * 56, b"c" * 64, bytes(range(256)), b"The quick brown fox " * 24 + b"abcd"]
    return [(digest(t), hashlib.sha256(t).hexdigest()) for t in texts]


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs
    print(f"sha256('abc') = {digest(b'abc')}")


if __name__ == "__main__":
    main()
