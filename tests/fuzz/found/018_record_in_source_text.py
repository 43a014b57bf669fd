# ruff: noqa
# symptom: AttributeError in dataclasses: at.fn(source=...) compiles the text with this module's `from __future__ import annotations` (compile() inherits it) and the module is not in sys.modules
# expected: works
# arguments: p0=R(x=np.float64(0.0))
# run: {"sizes": {"n": 3}, "seed": 0}
import atoll as at
from atoll import f64


@at.record
class R:
    x: f64


@at.fn
def f(p0: R):
    return p0.x
