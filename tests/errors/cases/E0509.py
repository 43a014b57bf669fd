import json

import atoll as at
from atoll import f64
from atoll.check.certificate import Certificate

n = at.sizes("n")


@at.fn
def f(a: f64[n]) -> f64[n]:
    return [2 * a[i] for i in range(n)]


Certificate({"format": "something else"}).check()

#> E0509: the certificate is not valid: not a certificate of this version
