import os
from unittest.mock import patch

import atoll as at
from atoll import f64
from atoll.runtime.shared import build_shared

n = at.sizes("n")


@at.fn
def twice(x: f64[n]) -> f64[n]:
    return 2.0 * x


with patch.dict(os.environ, {"ATOLL_CC": "cc"}):
    build_shared([twice], "numbers", ".", cpu="abacus")

#> E0836: the compiler cc knows no processor abacus
#>    help: name one it knows, as for its -march: --cpu x86-64-v3
