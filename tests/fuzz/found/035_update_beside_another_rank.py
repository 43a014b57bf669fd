# ruff: noqa
# symptom: loops: IndexError in plan/apart.py: an update asked about the index of an array of fewer dimensions that shares its loop
# expected: the interpreter's value
# arguments: p0=array([..]), p2=array([[..]], dtype=bool)
# run: {"sizes": {"n": 4, "m": 2}, "seed": 0}
import atoll as at
from atoll import i64
n, m = at.sizes('n m')


@at.fn
def f(p0: i64[1], p2: at.bool_[n, m + 1]):
    for j2 in range(n - 1, 0, -1):
        p0[0] -= p2[j2][0]
        p2[j2] = [p2[j2][j6] for j6 in range(m, -1, -1)]
    v25 = p0
    return v25
