from unittest import mock

import atoll as at
from atoll.sizes import declare

with mock.patch.object(declare, "poly", side_effect=KeyError("forgotten")):
    at.sizes("n")

#> E0899: sizes: this is a bug in Atoll (KeyError: 'forgotten')
#>    help: please report it with the program; ATOLL_DEBUG=1 shows where it happened
