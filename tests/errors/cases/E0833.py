from unittest import mock

import atoll as at
from atoll.runtime import cache

with mock.patch.object(cache, "_names", side_effect=OSError(24, "Too many open files")):
    at.cache.stats()

#> E0833: Cache.stats: the operating system refused (OSError: [Errno 24] Too many open files)
#>    help: make room or give the permission, and call it again
