# ruff: noqa
# symptom: loops: 'o[1] is read before it is written': the order is computed in one branch and read whole
# expected: the interpreter's value
# arguments: p2=np.int64(-9)
# run: {"sizes": {"n": 3}, "seed": 751}
import atoll as at
from atoll import i64


@at.fn
def f(p2: i64):
    return sort(concat(0, [p2])) if not bool(p2) else repeat(p2, 3)
