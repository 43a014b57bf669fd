"""Loops that look back at what earlier rounds made, as a stranger wrote them: some may go many rounds at a time, some must not, all mean the same."""

import numpy as np
import pytest

import atoll as at
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from tests.agreement import flat

HEAD = "import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n"
BODIES = {
    "fwd": """
    x = at.copy(b)
    for i in range(n):
        x[i] = b[i] - sum(a[i,p]*x[p] for p in range(i))
    return x
""",
    "bwd": """
    x = at.copy(b)
    for i in reversed(range(n)):
        x[i] = b[i] - sum(a[i,p]*x[p] for p in range(i+1,n))
    return x
""",
    "bwd2": """
    x = at.copy(b)
    for ii in range(n):
        i = n-1-ii
        x[i] = x[i] - sum(a[p,i]*x[p] for p in range(i+1,n))
    return x
""",
    "catalan": """
    x = at.copy(b)
    for i in range(1,n):
        x[i] = sum(x[p]*x[i-1-p] for p in range(i))
    return x
""",
    "volterra": """
    x = at.copy(b)
    for i in range(n):
        x[i] = b[i] + sum(b[i-p]*x[p] for p in range(i))
    return x
""",
    "selfincl": """
    x = at.copy(b)
    for i in range(n):
        x[i] = sum(a[i,p]*x[p] for p in range(i+1))
    return x
""",
    "all": """
    x = at.copy(b)
    for i in range(n):
        x[i] = sum(a[i,p]*x[p] for p in range(n))
    return x
""",
    "colsumrow": """
    for i in range(n):
        for j in range(n):
            a[i,j] = a[i,j] + sum(a[p,j] for p in range(i)) - sum(a[i,p] for p in range(j))
    return a
""",
    "ll_noscale": """
    for j in range(n):
        for i in range(j,n):
            a[i,j] -= sum(a[i,p]*a[j,p] for p in range(j))
    return a
""",
    "ll_after": """
    for j in range(n):
        for i in range(j,n):
            a[i,j] -= sum(a[i,p]*a[j,p] for p in range(j))
        for i in range(j+1,n):
            a[i,j] = a[i,j] * 3 + a[j,j]
    return a
""",
    "ll_full": """
    for j in range(n):
        for i in range(n):
            a[i,j] -= sum(a[i,p]*a[j,p] for p in range(j))
    return a
""",
    "ll_trans": """
    for j in range(n):
        for i in range(j,n):
            a[j,i] -= sum(a[p,i]*a[p,j] for p in range(j))
    return a
""",
    "crout": """
    l = a*0
    u = a*0
    for j in range(n):
        for i in range(j,n):
            l[i,j] = a[i,j] - sum(l[i,p]*u[p,j] for p in range(j))
        for i in range(j+1,n):
            u[j,i] = a[j,i] - sum(l[j,p]*u[p,i] for p in range(j))
    return l, u
""",
    "crout_wrongdep": """
    l = a*0
    u = a*0
    for j in range(n):
        for i in range(j,n):
            l[i,j] = a[i,j] - sum(l[i,p]*u[p,j] for p in range(j))
        for i in range(n):
            u[j,i] = a[j,i] - sum(l[j,p]*u[p,i] for p in range(j)) + l[i,j]
    return l, u
""",
    "rows_ll": """
    for i in range(n):
        for j in range(m):
            c[i,j] -= sum(a[i,p]*c[p,j] for p in range(i))
    return c
""",
    "rows_ll2": """
    for i in range(n):
        c[i] -= [sum(a[i,p]*c[p,j] for p in range(i)) for j in range(m)]
    return c
""",
    "rows_diag": """
    for i in range(n):
        for j in range(m):
            c[i,j] = (c[i,j] - sum(a[i,p]*c[p,j] for p in range(i)))*b[i]
    return c
""",
    "rows_shift": """
    for i in range(n):
        for j in range(m):
            c[i,j] -= sum(a[i,p]*c[p,(j+1)%m] for p in range(i))
    return c
""",
    "rows_left": """
    for i in range(n):
        for j in range(1,m):
            c[i,j] -= sum(a[i,p]*c[p,j-1] for p in range(i)) + c[i,j-1]
    return c
""",
    "lag2": """
    x = at.copy(b)
    for i in range(2,n):
        x[i] -= sum(a[i,p]*x[p] for p in range(i-1))
    return x
""",
    "even": """
    x = at.copy(b)
    for i in range(n):
        x[i] -= sum(a[i,2*p]*x[2*p] for p in range((i+1)//2))
    return x
""",
    "bandwin": """
    x = at.copy(b)
    for i in range(n):
        x[i] -= sum(a[i,p]*x[p] for p in range(max(0,i-5),i))
    return x
""",
    "cond": """
    x = at.copy(b)
    for i in range(n):
        x[i] -= sum(a[i,p]*x[p] for p in range(i) if x[p] > 0)
    return x
""",
    "maxplus": """
    x = at.copy(b)
    for i in range(n):
        x[i] = max((x[p]+a[i,p] for p in range(i)), default=0) + b[i]
    return x
""",
    "minrows": """
    for i in range(n):
        for j in range(m):
            c[i,j] = min((c[p,j]+a[i,p] for p in range(i)), default=1)
    return c
""",
    "prod": """
    x = at.copy(b)
    for i in range(n):
        x[i] = x[i] + prod(x[p]+1 for p in range(i))
    return x
""",
    "two": """
    x = at.copy(b)
    y = at.copy(b)
    for i in range(n):
        x[i] = b[i] - sum(a[i,p]*y[p] for p in range(i))
        y[i] = x[i] + sum(a[p,i]*x[p] for p in range(i+1))
    return x, y
""",
    "scalarstate": """
    x = at.copy(b)
    s = b[0]*0 if n > 0 else 0
    for i in range(n):
        x[i] = b[i] - sum(a[i,p]*x[p] for p in range(i)) + s
        s = s*3 + x[i]
    return x, s
""",
    "sumsum": """
    for j in range(n):
        for i in range(j,n):
            a[i,j] -= sum(sum(a[i,q]*a[p,q] for q in range(p+1)) for p in range(j))
    return a
""",
    "three": """
    for j in range(n):
        for i in range(j,n):
            a[i,j] -= sum(a[i,p]*a[j,p]*a[p,p] for p in range(j))
    return a
""",
    "symwrite": """
    for j in range(n):
        for i in range(j,n):
            v = a[i,j] - sum(a[i,p]*a[j,p] for p in range(j))
            a[i,j] = v
            a[j,i] = v
    return a
""",
    "loopsum": """
    for j in range(n):
        for i in range(j,n):
            for p in range(j):
                a[i,j] -= a[i,p]*a[j,p]
    return a
""",
    "loopsum_up": """
    for j in range(n):
        for p in range(j):
            for i in range(j,n):
                a[i,j] -= a[i,p]*a[j,p]
    return a
""",
    "loopsum_T": """
    for i in range(n):
        for p in range(i):
            for j in range(n):
                a[i,j] -= a[i,p]*a[p,j]
    return a
""",
    "ikj": """
    for i in range(n):
        for p in range(i):
            for j in range(p+1,n):
                a[i,j] -= a[i,p]*a[p,j]
    return a
""",
    "floyd": """
    for p in range(n):
        for i in range(n):
            for j in range(n):
                a[i,j] = min(a[i,j], a[i,p]+a[p,j])
    return a
""",
    "mchain": """
    for d in range(1,n):
        for i in range(n-d):
            a[i,i+d] = min(a[i,q]+a[q+1,i+d]*b[q] for q in range(i,i+d))
    return a
""",
    "overlapcols": """
    for j in range(n):
        for i in range(n):
            a[i,j] = a[i,j] + sum(a[p,j]*b[p] for p in range(i))
    return a
""",
    "idx_ind": """
    x = at.copy(b)
    for i in range(n):
        x[i] -= sum(a[i,p]*x[(p*7)%n] for p in range(i))
    return x
""",
    "mat3": """
    x = a*0
    for i in range(n):
        for j in range(n):
            x[i,j] = a[i,j] + sum(x[i,p]*a[p,j] for p in range(j)) + sum(a[i,p]*x[p,j] for p in range(i))
    return x
""",
    "durbin": """
    x = at.copy(b)
    for i in range(1,n):
        t = b[i] + sum(b[i-1-p]*x[p] for p in range(i))
        y = [x[p] + t*x[i-1-p] for p in range(i)]
        x[:i] = y
        x[i] = t
    return x
""",
}


@pytest.mark.parametrize("name", BODIES)
def test_rewritten(name):
    f = at.fn(source=f"{HEAD}def f(a: f64[n, n], b: f64[n], c: f64[n, m]):{BODIES[name]}")
    loops = compiled_loops(f.core)
    rng = np.random.default_rng(6)
    for n, m, piece in ((1, 1, 1), (5, 3, 1000), (19, 4, 3)):
        a, b, c = rng.normal(size=(n, n)) / (2 * n), 0.3 * rng.normal(size=n), rng.normal(size=(n, m))
        sizes = {s: {"n": n, "m": m}[s.name] for s in loops.sizes}
        for found, expected in zip(execute(loops, [a, b, c], sizes, piece), flat(f.interpret(a, b, c)), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
