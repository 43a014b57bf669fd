"""jvp of a function with a loop, mapped over seeds, has a free index: jacfwd and hessian of anything with a loop crash.

Happens: KeyError: i from the AiNF evaluator, the loop executor and the C printer. The primal loop does not depend on the seed, its
tangent does; the tangent becomes state of a loop that does not have the seed's index among its dims:

    let for i:n, l4 = loop i:n (0.0) -> (x3[i])
      let ds_2 = param 0 ds
      let for i:n, x3 = add(x1[i, i], ds_2)

The interpreter is right; so is reverse mode (jacrev), and a loop that depends on the mapped index itself.
Should: as the interpreter, with the primal state computed once.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64:
    s = 1.0
    for i in range(n):
        s = s * x[i]
    return s


def check() -> None:
    x = np.array([2.0, 3.0, 5.0])
    agree(at.jacfwd(f), x, expected=np.array([15.0, 10.0, 6.0]))
    agree(at.hessian(f), x, expected=np.array([[0.0, 5.0, 3.0], [5.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
