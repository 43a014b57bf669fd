"""Futhark programs that double themselves: an answer, or an error with a code and a place, soon."""

from __future__ import annotations

import time

import pytest

import atoll as at
from atoll.futhark.parse import parse


def _values(levels: int) -> str:
    lets = " ".join(f"let t{k + 1} = (t{k}, t{k})" for k in range(levels))
    return f"entry f (x: f64) : f64 = let t0 = (x, x) {lets} in t{levels}" + ".0" * (levels + 1)


def _types(levels: int) -> str:
    return "type t0 = (f64, f64)\n" + "".join(f"type t{k + 1} = (t{k}, t{k})\n" for k in range(levels)) + f"entry f (x: t{levels}) : f64 = 1.0"


def test_tuples_of_tuples_are_values() -> None:
    assert at.futhark(source=_values(6)).f(2.0) == 2.0


@pytest.mark.parametrize("text", [_values(24), _types(24), _types(24).replace("(", "{a: ", 1).replace(", f64)", ", b: f64}", 1)])
def test_too_many_parts(text: str) -> None:
    with pytest.raises(at.Error, match="E0130: this value has more than 4,096 parts") as told:
        at.futhark(source=text)
    assert "help: keep values of one kind in an array" in str(told.value)


@pytest.mark.parametrize("digits", ["9" * 100_000, "0x" + "f" * 100_000])
def test_numbers_of_many_digits(digits: str) -> None:
    with pytest.raises(at.Error, match="this number has 100,00. digits") as told:
        at.futhark(source=f"entry f (x: i64) : i64 = x + {digits}")
    assert told.value.code == "E1401"
    with pytest.raises(at.Error, match="this number has 100,00. digits") as told:
        at.madl(source=f"let f (x of i64) returns (y of i64): y = x + {digits} end\n")
    assert told.value.code == "E0901"


@pytest.mark.parametrize("inside", ["x", "let (((y))) = x in y"])
def test_parentheses_are_as_long_as_their_text(inside: str) -> None:
    """The work grows with the text: twenty thousand took twelve seconds where an exception in a generator looked through all the others."""
    text, short = (f"entry f (x: i64) : i64 = {'(' * count}{inside}{')' * count}" for count in (20_000, 20))
    at.futhark(source=short)
    start = time.process_time()
    assert at.futhark(source=text).f(3) == 3
    assert time.process_time() - start < 6.0


def test_chains_are_read_once() -> None:
    """Four times the terms, four times the work: each operator copied the chain before it, 20,000 products took 35 seconds."""

    def seconds(terms: int) -> float:
        text = "entry f (x: i64) : i64 = " + " + ".join(f"x * {k}" for k in range(terms))
        start = time.process_time()
        parse(text)
        return time.process_time() - start

    seconds(10)
    assert min(seconds(6_000) for _ in range(2)) < 8 * min(seconds(1_500) for _ in range(3))


@pytest.mark.parametrize("text", ["[" * 5_000 + "x" + "]" * 5_000, "(\\y -> " * 2_000 + "x" + ")" * 2_000])
def test_types_nested_too_deeply(text: str) -> None:
    start = time.process_time()
    with pytest.raises(at.Error, match="E0129: the program is nested too deeply"):
        at.futhark(source=f"entry f (x: i64) : i64 = {text}")
    assert time.process_time() - start < 10.0
