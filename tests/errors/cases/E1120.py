from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.std.lists import Cons, List, Nil

n = at.sizes("n")
a = at.types("a")


from pathlib import Path

from atoll.functions.modules import build_module

Path("only.py").write_text("import atoll as at\n\nx = 3\n")
build_module("only.py")

#> E1120: only.py cannot be part of a module: it has no function with one type
