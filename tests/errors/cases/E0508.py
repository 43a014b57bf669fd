import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def f(a: f64[n, m]) -> f64[n, m]:
    row = [[a[i, j] * 2 for j in range(m)] for i in range(n)]
    return [[row[i, j] + row[i, m - 1 - j] for j in range(m)] for i in range(n)]


at.schedule(f).stage("row", at="i").vectorize("i", 4).compile()

#> E0508: vectorize: the rounds of i are not independent: row inside it needs memory in every round; stage it outside
#>   --> E0508.py:13:1
#>    13 | at.schedule(f).stage("row", at="i").vectorize("i", 4).compile()
#>       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
