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
client = """
import atoll as at
stack = at.module("stack.atoi")

@at.fn
def twice(x: at.i64) -> at.i64:
    return stack.push(stack.push(x))
"""
Path("stack.py").write_text(source)
Path("client.py").write_text(client)
build_module("stack.py")
build_module("client.py")
Path("stack.py").write_text(source.replace("(x: at.i64)", "(x: at.i64, y: at.i64)"))
build_module("stack.py")
at.module("client.atoi")

#> E1118: module client was compiled with push: push(x: i64) -> i64, but stack expects push(x: i64, y: i64) -> i64
#>    help: build both modules against the same declarations
