# ruff: noqa
# symptom: loops: KeyError (a buffer is read after Free); compiled: segmentation fault
# expected: the interpreter's value
# arguments: p1=array([                  5,                  -4, 9223372036854775806])
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(p1: i64[n]):
    p1[0] = 0
    p1[::-1] = p1
    p1[::1] = p1 << (p1 & 3)
    return p1
