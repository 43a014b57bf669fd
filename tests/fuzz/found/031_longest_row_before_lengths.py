# ruff: noqa
# symptom: loops: the length of the longest row is asked for before the lengths are computed
# expected: an error: the minimum of nothing
# arguments: p0=array([True])
# run: {"sizes": {"n": 1}, "seed": 0, "error": "E0704"}
import atoll as at
n = at.sizes('n')


@at.fn
def f(p0: at.bool_[n]):
    v3 = 0
    v30 = [min((j28 for j28 in range((v3 | j26) % 3, 0) for j29 in range(0))) for j26 in range(1, n + 1)]
    return v30
