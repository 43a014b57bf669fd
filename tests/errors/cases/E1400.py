import sys

import atoll as at

hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("lark", "atoll") and "futhark" in name or name == "lark"}
for name in hidden:
    del sys.modules[name]
sys.modules["lark"] = None
try:
    from atoll.futhark.api import futhark

    futhark(source="def main = 1")
except at.Error as error:
    raise error from None
finally:
    del sys.modules["lark"]
    sys.modules.update(hidden)

#> E1400: Futhark files need the package lark
#>    help: pip install 'atoll[futhark]'
