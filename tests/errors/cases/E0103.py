import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


namespace = {"at": at, "f64": f64}
exec("@at.fn\ndef f(x: f64) -> f64:\n    return x", namespace)

#> E0103: the text of f cannot be found (looked in <string>)
#>    help: pass the text itself: at.fn(source=text)
