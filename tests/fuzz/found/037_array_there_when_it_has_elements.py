# ruff: noqa
# symptom: AiNF is refused: a result reads what exists only if it has elements (its length is an extent that a quotient says otherwise)
# expected: the interpreter's value
# arguments: k1=8, p1=array([..], dtype=int32)
# run: {"sizes": {"k1": 8}, "seed": 0}
import atoll as at
from atoll import i32, i64
k1 = at.sizes('k1')


@at.fn
def f(k1: i64, p1: i32[k1]):
    cnt1 = k1 % 5
    v3 = [p1[cnt1] for j2 in range(cnt1)]
    v3[::1] -= 0
    return v3
