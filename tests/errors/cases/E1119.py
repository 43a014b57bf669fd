from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


at.module("stack.atoi")

#> E1119: stack.atoi is not an interface file of this Atoll: there is no such file
#>    help: build the module again
