# ruff: noqa
# symptom: compiled code hangs or asks for all memory: the length of a range, stored only where the filter holds, is read in every round
# expected: 0, as nothing is kept
# arguments: n=2, x=array([-10, -5]), y=array([-10, 0])
# run: {"sizes": {"n": 2}, "seed": 0}
import atoll as at
from atoll import i64
n = at.sizes('n')


@at.fn
def f(x: i64[n], y: i64[n]):
    return sum(sum(sum(x[q % n] for q in range(abs(x[p % n]) % 4)) for p in range(abs(x[j % n]) % 4)) for j in range(3) if y[j % n] > 0)
