# ruff: noqa
# symptom: AssertionError in ainf/translate/context.py:get: Scalar(Const(False)): a padded array of size 0 becomes a scalar
# expected: the interpreter's value
# arguments: p1=np.True_
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at


@at.fn
def f(p1: at.bool_):
    return [~[full(2, p1) for j4 in range(2)], pad_l([full(2, p1) for j5 in range(0)], 2)]
