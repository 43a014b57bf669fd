# ruff: noqa
# symptom: loops: reads p3[i - 1] at i = 0, outside the array
# expected: both parts
# arguments: p3=array([[0]], dtype=int8)
# run: {"sizes": {"n": 1}, "seed": 0}
import atoll as at
from atoll import i8
n = at.sizes('n')


@at.fn
def f(p3: i8[1, n]):
    p3 ^= 1
    return concat(p3, p3)
