# ruff: noqa
# symptom: loops and compiled: element 1 is read before it is written (garbage): the copy of the old array is left out; also with i64[m + 1], with range(3), pad(p, 1), bool arrays
# expected: p0[1] as it was
# arguments: p0=array([-2,  7])
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64


@at.fn
def f(p0: i64[2]):
    p0[0] = 0
    return p0[1]
