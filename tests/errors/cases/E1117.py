from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


from pathlib import Path

from atoll.functions.modules import build_module

source = """
import atoll as at

@at.fn
def push(x: at.i64) -> at.i64:
    return x + 1
"""
Path("stack.py").write_text(source)
build_module("stack.py")
Path("stack.py").write_text(source.replace("x: at.i64", "x: at.f64").replace("-> at.i64", "-> at.f64"))
at.module("stack.atoi")

#> E1117: module stack: push has type push(x: f64) -> f64 here, but was compiled as push(x: i64) -> i64
#>    help: build the module again: atoll build --module stack
