import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")

f = at.fn(
    source="import atoll as at\nfrom atoll import f64\n\n@at.fn\ndef f(x: f64) -> f64:\n    return " + " + ".join(["x"] * 50_000) + "\n"
)

#> E0129: the program is nested too deeply
#>    help: give parts of it names, and write long chains as loops or reductions
