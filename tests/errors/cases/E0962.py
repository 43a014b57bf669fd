import numpy as np

import atoll as at

nd = at.madl(source="""
let histogram <<n>> (v of [_]idx<<n>>) returns (h of [n]int):
  forward ([k] = v) returns (h = {g} init [n]0): g = last g with [k] = (last g).[k] + 1
""")
nd.histogram(np.array([0, 5], "int32"), n=4)

#> E0962: histogram: argument v is 5, which is not in 0..3
