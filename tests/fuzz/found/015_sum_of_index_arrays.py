# ruff: noqa
# symptom: E0709 in the interpreter: elements of the sum must be idx[n]; a dead one is E0709 in the interpreter and a value elsewhere
# expected: [0, 2, 4]
# arguments: p0=array([-2,  7,  2], dtype=int32)
# run: {"sizes": {"n": 3, "m": 2}, "seed": 0}
import atoll as at
from atoll import i32
n = at.sizes('n')


@at.fn
def f(p0: i32[n]):
    v9 = sum(range(n) for j4 in range(2))
    return v9
