import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.record
class Step:
    apply: at.Fn[[f64], f64]


@at.fn
def f(x: f64) -> f64:
    step = Step(lambda v: v)
    for i in range(3):
        x = step.apply(x)
        step = Step(lambda v: v + i)
    return x

#> E0122: the lambda uses i, which has been rebound since the lambda was defined
#>   --> E0122_round.py:17:5, in f
#>    17 |     for i in range(3):
#>       |     ^^^^^^^^^^^^^^^^^^
#>    help: define the lambda after the last change of i, or keep the value it has here as a default: i=i
