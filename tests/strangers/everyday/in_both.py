"""`both`: a text that Python runs with NumPy and Atoll compiles, over several arguments, and perhaps its gradient."""
import math, re
import numpy as np, atoll as at
from h import *
HDR = "import numpy as np\nimport math\nimport atoll as at\nfrom atoll import f32, f64, i64, i32, u8, c128\nn, m, k = at.sizes('n m k')\nq = at.some('q')\n"

def both(body, *argsets, tol=1e-9, grad=None):
    space = {"np": np, "math": math, "at": at}
    exec("from __future__ import annotations\nimport numpy as np\n" + body, space)
    plain = space["f"]
    f = guard(body, lambda: at.fn(source=HDR + "@at.fn\n" + body + "\n"))
    if f is None:
        return
    for args in argsets:
        for ann, x in zip(plain.__annotations__.values(), args):
            found = re.search(r"\[(.*)\]", ann)
            if found:
                for name, size in zip(found.group(1).split(","), np.shape(x)):
                    space[name.strip()] = size
        with np.errstate(all="ignore"):
            wanted = plain(*[x.copy() if isinstance(x, np.ndarray) else x for x in args])
        got = guard(body, lambda: f(*args))
        if got is None:
            continue
        flat = lambda z: sum((flat(p) for p in z), ()) if isinstance(z, (tuple, list)) else (z,)
        same(body, flat(got), flat(wanted), tol)
        if grad is not None:
            g = guard(body, lambda: at.grad(f, wrt=grad)(*args))
            if g is not None:
                value = lambda y: plain(*[y if p == grad else (x.copy() if isinstance(x, np.ndarray) else x) for p, x in enumerate(args)])
                same(("gradient of", body), g, fd(value, args[grad]), 1e-4)
