import atoll as at
from atoll import f16, f32

n = at.sizes("n")


@at.record
class P:
    x: f16[n]


@at.fn
def f(p: P) -> f32:
    return sum(p.x)

#> E0271: P has fields that are stored as f16 or bf16
#>   --> E0271.py:13:7, in f
#>    13 | def f(p: P) -> f32:
#>       |       ^^^^
#>    help: declare the fields f32, and pass f16 arrays as parameters of their own
