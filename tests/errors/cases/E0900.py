import sys

import atoll as at

hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("lark", "atoll") and "madl" in name or name == "lark"}
for name in hidden:
    del sys.modules[name]
sys.modules["lark"] = None
try:
    from atoll.madl.api import madl

    madl(source="let f (x of f64) returns (y): y = x + 1.0")
except at.Error as error:
    raise error from None
finally:
    del sys.modules["lark"]
    sys.modules.update(hidden)

#> E0900: MADL needs the package lark
#>    help: pip install 'atoll[madl]'
