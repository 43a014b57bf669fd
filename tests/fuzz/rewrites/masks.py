"""Templates of products under conditions (plan/masks.py): of indices, of data, at the edges of windows, of both factors; with numbers that are not finite where a condition leaves them out, or does not."""

from __future__ import annotations

from .words import Chooser, Program, function, number, one_of, sizes, zero

SIZES = (0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 17)


def masked(r: Chooser) -> Program:
    """One sum, or sums in sums, of products of matrices under one to three conditions."""
    t = one_of(r, "f64", "f64", "f32")
    left = one_of(r, "a[i, p]", "a[i, p]", "(a[i, p] + b[i, p])", "exp(a[i, p])", "a[i, (p + 1) % m]", "a[c[i], p]", "(1 / b[i, p])")
    right = one_of(r, "w[p, j]", "w[p, j]", "w[j, p]", "(w[p, j] - 1)", "u[p]", "w[m - 1 - p, j]")
    term = one_of(r, f"{left} * {right}", f"{right} * {left}", left, right, f"{left} * {right} * {number(r, t)}", f"({left} * {right})")
    of_left = ["b[i, p] > 0", "b[i, p] < a[i, p]", "p < m - 1 and b[i, p + 1] > 0", "p <= i", "p > i", "p != i", "i + p >= 1", "p >= 1 and a[i, p - 1] > 0", "c[i] > p", "b[i, p] != k", "i > 0 and b[i - 1, p] > 0"]
    of_right = ["v[p, j] > 0", "w[p, j] == w[p, j]", "p <= j", "p >= j - 1", "j > 0 and v[p, j - 1] > 0", "v[p, j] > u[p]", "p >= 1"]
    odd = ["b[i, p] > v[p, j]", "b[i, j] > 0", "p > k", "i + p > j", "p == i", "k > 0", "u[p] > 0", "p < m - 1"]
    chosen = [one_of(r, r.choice(of_left), r.choice(of_left), r.choice(of_right), r.choice(odd)) for _ in range(r.choice((1, 1, 2, 3)))]
    guard = one_of(r, " and ", " and ", " or ").join(f"({c})" if " and " in c else c for c in chosen)
    over = one_of(r, "m", "m", "m", "1, m", "m - 1", "min(i + 1, m)", "m // 2")
    total = one_of(r, f"sum({term} if {guard} else {one_of(r, zero(t), zero(t), '-0.0', '1.0')} for p in range({over}))", f"sum({term} for p in range({over}) if {guard})")
    inside = one_of(r, "", "", "sums")
    if inside:
        q = one_of(r, "q < p", "x3[q, i, p] > 0", "True", "q != 1")
        total = f"sum(sum(x3[q, i, p] * w[p, j] if {q} else 0 for q in range(3)) {one_of(r, f'if {guard} else 0', '')} for p in range({over}))"
    element = one_of(r, total, total, f"{total} + b[i, j]", f"({total} if {one_of(r, 'i != j', 'i + 2 * j >= 1', 'j > 0', 'k > 0', 'j <= i', 'i < n - 1 and b[i + 1, j] > 0')} else b[i, j])", f"{number(r, t)} * {total}")
    made = f"[[{element} for j in range(m)] for i in range(n)]"
    ways = [
        f"return {made}",
        f"for t in range({one_of(r, '2', 'k')}):\n    {one_of(r, 'a', 'b')} = {made}\nreturn a, b",
        f"for t in range(2):\n    w = [[w[i, j] * 0.5 for j in range(m)] for i in range(m)]\n    a = {made}\nreturn a, w",
        f"y = b\nif k > 0:\n    y = {made}\nreturn y",
        f"t = 0\nwhile t < {one_of(r, '2', 'k')} and {one_of(r, 't < 3', 'sum(u) < 99')}:\n    t += 1\n    w = [[w[i, j] * 0.5 for j in range(m)] for i in range(m)]\n    a = {made}\nreturn a, w",
    ]
    body = one_of(r, ways[0], ways[0], *ways)
    params = f"a: {t}[n, m], b: {t}[n, m], w: {t}[m, m], v: {t}[m, m], u: {t}[m], c: i64[n], x3: {t}[3, n, m], k: i64"
    if left.startswith("a[c["):
        params = params.replace("c: i64[n]", "p: i64[n]")
        body = body.replace("a[c[i], p]", "a[g[i], p]").replace("c[i]", "g[i]")
        body = f"g = p\n{body}"
    return Program(function(params, body), sizes(r, n=SIZES, m=SIZES, count=4), low=-3, high=3, nan=r.random() < 0.6)


def windows(r: Chooser) -> Program:
    """Sums over windows that are padded: convolutions, with strides, of several images, of the weights."""
    t = one_of(r, "f64", "f64", "f32")
    s, d, off = r.choice((1, 1, 2)), r.choice((1, 1, 2)), r.choice((0, 1, 1, 2))
    at = f"{'2 * ' if s == 2 else ''}i + {'2 * ' if d == 2 else ''}u - {off}"
    turned = f"i - u + {off}"
    at = one_of(r, at, at, at, turned)
    low, high = one_of(r, f"0 <= {at}", f"0 <= {at}", f"{at} > 0", f"{at} >= -1"), one_of(r, f"{at} < n", f"{at} < n", f"{at} <= n - 1", f"{at} < n - 1")
    edge = f"{low} and {high}"
    if ">= -1" in low:
        edge = f"0 <= {at} and {edge}"
    data = one_of(r, "", "", f" and y[{at}, 0] > 0", " and v[u, 0, 0] > 0", f" and x[{at}, 0] != k")
    factor = one_of(r, f"x[{at}, p]", f"x[{at}, p]", f"(x[{at}, p] + y[{at}, p])", f"x[{at}, m - 1 - p]")
    weights = one_of(r, "v[u, p, j]", "v[u, p, j]", "v[u, j, p]", "v[2 - u, p, j]")
    over = one_of(r, "for u in range(3) for p in range(m)", "for u in range(3) for p in range(m)", "for p in range(m) for u in range(3)")
    total = f"sum({factor} * {weights} if {edge}{data} else 0 {over})"
    made = f"[[{total} for j in range({one_of(r, 'm', 'm', '5')})] for i in range(n)]" if r.random() < 0.5 else f"[[[sum({factor} * z[i, j] if {edge}{data.replace('v[u, 0, 0]', 'z[i, j]')} else 0 for i in range({one_of(r, 'n', 'n', 'n - 1')})) for j in range(m)] for p in range(m)] for u in range(3)]"
    made = made.replace("range(5)", "range(m)")
    body = one_of(r, f"return {made}", f"return {made}", f"c = {made}\nreturn c, [w for w in c]", f"c = {made}\nfor t in range(2):\n    x = [[x[i, j] + 1 for j in range(m)] for i in range(n)]\n    c = {made}\nreturn c, x")
    return Program(function(f"x: {t}[n, m], y: {t}[n, m], z: {t}[n, m], v: {t}[3, m, m], k: i64", body), sizes(r, n=SIZES, m=(0, 1, 2, 3, 4, 5, 8, 9), count=4), low=-3, high=3, nan=r.random() < 0.6)
