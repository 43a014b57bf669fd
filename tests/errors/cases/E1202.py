import sys

import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> f64[n]:
    return 2.0 * x


there = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "dask"}
for name in there:
    del sys.modules[name]
sys.modules["dask"] = None  # as if it were not installed
try:
    f.distribute(np.ones(3))
finally:
    del sys.modules["dask"]
    sys.modules.update(there)

#> E1202: distribute needs the package dask, which is not installed
#>    help: pip install 'atoll[dask]'
