"""`counted`: a program of one or more functions, the last of which is f, that Python runs with NumPy and Atoll compiles, at sizes 0, 1, 2 and 17; and the bytes it stores beside those that Python stores."""
import math, re
import numpy as np, atoll as at
from h import *
from in_both import HDR
from tests.control.count import moved

MAKERS = ("zeros", "ones", "full", "empty", "arange", "where", "roll", "concatenate", "copy", "argsort", "lexsort")

class Written(np.ndarray):
    """An array that counts the bytes that are assigned to it."""
    total = 0
    def __setitem__(self, k, v):
        np.ndarray.__setitem__(self, k, v)
        Written.total += np.size(np.ndarray.__getitem__(self, k)) * self.itemsize

class Numpy:
    def __getattr__(self, name):
        found = getattr(np, name)
        if name not in MAKERS: return found
        def make(*args, **named):
            x = found(*args, **named)
            Written.total += x.nbytes
            return x.view(Written)
        return make

def python(text, args):
    space = {"np": Numpy(), "math": math, "at": at, "n": 0, "m": 0, "k": 0}
    exec("from __future__ import annotations\n" + text, space)
    for ann, x in zip(space["f"].__annotations__.values(), args):
        for name, size in zip(re.findall(r"[\w+ ]+", ann.partition("[")[2]), np.shape(x)):
            name, _, more = name.strip().partition(" + ")
            if name.isidentifier(): space[name] = size - int(more or 0)
    Written.total = 0
    with np.errstate(all="ignore"):
        return space["f"](*[np.array(x).view(Written) if isinstance(x, np.ndarray) else x for x in args])

def flat(z): return sum((flat(p) for p in z), ()) if isinstance(z, (tuple, list)) else (z,)

def counted(name, text, make):
    f = guard(name, lambda: at.fn(source=HDR + "from atoll import bool_, u64, i8\n" + re.sub(r"^def ", "@at.fn\ndef ", text, flags=re.M)))
    if f is None: return
    for size in (0, 1, 2, 17):
        args = make(size)
        got = guard((name, size), lambda: f(*args))
        if got is not None: same((name, size), flat(got), flat(python(text, args)), 1e-12)
    if "every round" in str(f.memory()): print("MISMATCH", name, "copies in every round\n", f.memory())
    shares = []
    for size in (16, 64):
        python(text, make(size))
        shares.append(moved(f, *make(size)) / max(Written.total, 1))
    if shares[1] > 1.3 * shares[0] + 0.2: print("MISMATCH", name, "stores more and more beside Python", shares)
