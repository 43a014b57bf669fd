"""Templates of what people write and our own rows did not: histograms side by side, several sums of columns, operators over rows and matrices, buffers that change
places, views of views that are changed, products of every small shape, local functions, arithmetic of mixed dtypes."""

from __future__ import annotations

from .words import AROUND, TINY, Chooser, Program, far, function, number, one_of, sizes, span, value, zero

SHORT = (0, 1, 2, 3, 4, 5, 7, 8, 9)
LONG = (*TINY, 15, 16, 17, 63, 64, 65, 255, 256, 257)


def histograms(r: Chooser) -> Program:
    """Several over the same rounds, by named and by written operators, of computed places, of rows."""
    t = one_of(r, "f64", "i64", "f32")
    place = ["p[i] % 3", "i % 3", "(p[i] + i) % 3", "0", "2 - i % 3", "(p[i] * 7) % 3"]
    e = [value(r, t, ["x[i]", "y[i]"], 1) for _ in range(3)]
    over = span(r, "n")
    ways = [
        f"hist(add, {zero(t)}, 3, [{r.choice(place)} for i in range({over})], [{e[0]} for i in range({over})])",
        f"hist(lambda s, v: s + v, {zero(t)}, 3, [{r.choice(place)} for i in range({over})], [{e[1]} for i in range({over})])",
        f"hist(lambda s, v: max(s, v), {t}(-100), 3, [{r.choice(place)} for i in range({over})], [{e[2]} for i in range({over})])",
        f"hist(minimum, {t}(100), 3, [{r.choice(place)} for i in range({over})], [{e[0]} for i in range({over})])",
        f"hist(add, i64(0), 3, [{r.choice(place)} for i in range(n)], [1 for i in range(n)])",
        f"hist(lambda s, v: s if s > v else v, {t}(-100), 3, [{r.choice(place)} for i in range(n)], x)",
    ]
    if r.random() < 0.3:
        lines = "c = zeros(3, dtype=i64)\nd = zeros(3, dtype=" + t + f")\nfor i in range({over}):\n    c[{r.choice(place)}] += 1\n    d[{r.choice(place)}] += {e[0]}\n" + one_of(r, "", f"    if x[i] > 0:\n        d[{r.choice(place)}] = {e[1]}\n", "    c[i64(d[i % 3] > 0)] += 1\n" if t == "i64" else "")
        return Program(function(f"x: {t}[n], y: {t}[n], p: i64[n], k: i64", f"{lines}return c, d"), tuple((n, 1) for n, _ in sizes(r, n=LONG)))
    chosen = r.sample(ways, r.choice((1, 2, 3)))
    return Program(function(f"x: {t}[n], y: {t}[n], p: i64[n], k: i64", f"return {', '.join(chosen)}"), tuple((n, 1) for n, _ in sizes(r, n=LONG)))


def columns(r: Chooser) -> Program:
    """Sums along the first axis that others are made of: means, deviations, covariances."""
    t = one_of(r, "f64", "f64", "f32", "i64")
    first = one_of(r, "sum(a, axis=0)", "[sum(a[i, j] for i in range(n)) for j in range(m)]", "max(a, axis=0)", "sum(a * a, axis=0)", "sum(transpose(a))")
    if "max" in first:
        first = "[max([a[i, j] for i in range(n)], default=0) for j in range(m)]"
    second = one_of(r, "sum(b, axis=0)", "[sum(a[i, j] * b[i, j] for i in range(n)) for j in range(m)]", "[sum(a[i, j] * s[j] for i in range(n)) for j in range(m)]", "[sum(a[i, j] - s[j] for i in range(n) if a[i, j] > b[i, j]) for j in range(m)]")
    third = one_of(
        r,
        "[[a[i, j] * 2 - s[j] * d[j] for j in range(m)] for i in range(n)]",
        "[[sum((a[i, j] - s[j]) * (a[i, q] - d[q]) for i in range(n)) for q in range(m)] for j in range(m)]",
        "[sum(a[i, j] * d[j] for j in range(m)) for i in range(n)]",
        "sum(s[j] * d[j] for j in range(m))",
        "[[a[i, j] if s[j] > d[j] else b[i, j] for i in range(n)] for j in range(m)]",
    )
    body = f"s = {first}\nd = {second}\nreturn s, d, {third}"
    return Program(function(f"a: {t}[n, m], b: {t}[n, m], k: i64", body), tuple((n, m) for n, m in sizes(r, n=LONG, m=SHORT)), low=-3, high=3)


def rowwise(r: Chooser) -> Program:
    """Operators whose elements are rows or small matrices; folds, scans and loops of them."""
    t = one_of(r, "f64", "i64")
    op = one_of(r, "[v + w for v, w in zip(p, q)]", "[max(v, w) for v, w in zip(p, q)]", "[p[0] * q[0], p[1] * q[0] + q[1], p[2] + q[2]]", "[p[j] + q[j] for j in range(3)]", "[q[0], p[1] + q[1], max(p[2], q[2])]")
    ne = "[-100, -100, -100]" if op.startswith("[max") else "[1, 0, 0]" if "p[0] * q" in op else "[0, 0, -100]" if "q[0], p[1]" in op else "[0, 0, 0]"
    ne = ne.replace("[", "[f64(").replace(", ", "), f64(").replace("]", ")]") if t == "f64" else ne
    x = r.choice(("[[x[i], y[i], x[n - 1 - i]] for i in range(n)]", "[[x[0] * 0 + 1, y[0] * 0 + 1, y[0] * 0] for i in range(n)]", "[[x[0], y[0] * 0 + 1, y[0]] for i in range(n)]", "[[x[0], x[0], y[0]] for i in range(n)]", f"[[{value(r, t, ['x[i]', 'y[i]'], 1)}, y[i], {t}(1)] for i in range(n)]", f"[[x[i] % 2, y[i] % 3, {t}(1)] for i in range(n)]"))
    how = r.randrange(4)
    if "p[0] * q" in op:
        x = f"[[x[i] * 0 + {number(r, t)}, y[i], {t}(1)] for i in range(n)]"
    if how == 0:
        body = f"return reduce(lambda p, q: {op}, {ne}, {x})"
    elif how == 1:
        body = f"return scan(lambda p, q: {op}, {ne}, {x})" if "q[0], p[1]" not in op else f"return reduce(lambda p, q: {op}, {ne}, {x})"
    elif how == 2:
        body = f"s = {ne}\nfor i in range(n):\n    p = s\n    q = [x[i], y[i], {t}(1)]\n    s = {op}\nreturn s" if "p[0] * q" not in op else f"return reduce(lambda p, q: {op}, {ne}, {x})"
    else:
        body = f"return [reduce(lambda p, q: {op}, {ne}, {x}) for j in range(m)], sum(reduce(lambda p, q: {op}, {ne}, {x}))"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64, w: f64[m]", body), tuple((max(n, 1), m) for n, m in sizes(r, n=(1, 2, 3, 4, 7, 16, 17, 64, 65, 257), m=(1, 2, 3))), low=-3, high=3)


def buffers(r: Chooser) -> Program:
    """Two or three arrays that take turns, changed before and after they do, in some rounds only."""
    t = one_of(r, "f64", "i64")
    d = far(r, 4)
    new = one_of(r, f"b[i] = a[i] + a[(i + {d}) % n]", f"b[i] = a[i - {d}] if i >= {d} else a[i]", "b[i] = b[i] + a[n - 1 - i]", f"b[i] = a[i] * 2 if a[i] > {number(r, t)} else b[i]", "if a[i] > 0:\n            b[i] = a[i] + c[i]", "b[i] = c[i]\n        c[i] = a[i]")
    turn = one_of(r, "a, b = b, a", "a, b, c = b, c, a", "b, a = a, b", "a = b", "h = a\n    a = b\n    b = h", "if q % 2 == 0:\n        a, b = b, a", "a, b = b, a\n    a[0] = 1", "a, b = b, a\n    b[q % n] += 2", "if a[0] > b[0]:\n        a, b, c = c, a, b\n    else:\n        b, c = c, b", "c = a\n    a, b = b, a", "a, c = c, a\n    if a[0] > 0:\n        b = a\n        b[0] = 3")
    before = one_of(r, "", "a[q % n] = b[0]\n    ", "if n > 1:\n        a[1:] = b[:-1]\n    ", "s = s + a[0]\n    ")
    body = f"s = {zero(t)}\nfor q in range({one_of(r, '3', 'k % 5', '4', 'm')}):\n    {before}for i in range({one_of(r, 'n', '1, n', 'n - 1', 'n - 1, -1, -1')}):\n        {new}\n    {turn}\nreturn a, b, c, s"
    return Program(function(f"a: {t}[n], b: {t}[n], c: {t}[n], k: i64, w: f64[m]", body), tuple((max(n, 1), m) for n, m in sizes(r, n=(1, 2, 3, 4, 5, 9, 17), m=(0, 1, 2, 3))), low=-3, high=3)


VIEWS = ("reverse({})", "rotate({}, 1)", "rotate({}, 2)", "{}[::-1]", "{}[1:]", "{}[:-1]", "{}[::2]", "concat({0}, {0})", "pad_l({}, 2)", "pad_r({}, 1)", "flatten([[v, v] for v in {}])", "flatten(transpose([[v, v + 1] for v in {}]))", "[v for v in {}]", "trunc_l({}, 1)", "trunc_r({}, 1)")


def composed(r: Chooser) -> Program:
    """Views of views, some of them bound and changed, read again through others."""
    t = one_of(r, "i64", "f64", "i32")
    lines, names = [], ["a", "b"]
    for name in ("c", "d", "e")[: r.choice((1, 2, 3))]:
        seen = r.choice(names)
        for _ in range(r.choice((1, 2, 2, 3))):
            seen = r.choice(VIEWS).format(seen)
        lines.append(f"{name} = {seen}")
        names.append(name)
        if r.random() < 0.8:
            x = r.choice(names)
            change = [f"{x}[0] = 7", f"{x}[len({x}) - 1] += 3", f"{x}[::2] = 0", f"{x}[1:] = {x}[:-1]", f"{x}[::-1] = {x}", f"for i in range(len({x})):\n        {x}[i] = {x}[len({x}) - 1 - i] + 1", f"{x}[:2] += 1", f"for i in range(1, len({x})):\n        if {x}[i] > 0:\n            {x}[i] = {x}[i - 1]"]
            lines.append(f"if len({x}) > 2:\n    {r.choice(change)}")
    return Program(function(f"a: {t}[n], b: {t}[n], k: i64", "\n".join(lines) + f"\nreturn {', '.join(names)}, sum({r.choice(names)})"), tuple((n, 1) for n in (8, 9, r.choice((16, 17)), 11)))


def products(r: Chooser) -> Program:
    """Matrix products, under conditions and of every small shape."""
    t = one_of(r, "f64", "f64", "f32", "i64")
    term = one_of(r, "a[i, p] * b[p, j]", "a[i, p] * b[p, j]", "a[i, p] * b[p, j] * 2", "a[i, p] * (b[p, j] + 1)", "b[p, j] * a[i, p]", "a[i, p] * b[j, p]" if r.random() < 0.3 else "a[i, p] * b[p, j]")
    square = "b[j, p]" in term
    guard = one_of(r, "", "", " if p <= i", " if p >= j", " if a[i, p] > 0", " if p != i and p != j", " if (p + i) % 2 == 0")
    low = one_of(r, "m", "m", "min(i + 1, m)", "i, m" if r.random() < 0.5 else "1, m", "m - 1")
    shape = one_of(r, "[[{} for j in range(n)] for i in range(n)]", "[[{} for i in range(n)] for j in range(n)]", "[[{} if i >= j else " + zero(t) + " for j in range(n)] for i in range(n)]", "[sum({} for j in range(n)) for i in range(n)]", "[[{} - b[j % m, i] for j in range(n)] for i in range(n)]")
    if "b[j % m" in shape or low == "m - 1":
        shape = "[[{} for j in range(n)] for i in range(n)]" if r.random() < 0.5 else shape
    made = shape.format(f"sum({term} for p in range({low}){guard})")
    more = one_of(r, "c", "c, [sum(row) for row in c]", "c, sum(sum(row) for row in c)", "[[v + w for v, w in zip(row, c[i])] for i, row in enumerate(c)]")
    if shape.startswith("[sum"):
        more = "c"
    b = f"b: {t}[n, m]" if square else f"b: {t}[m, n]"
    text = function(f"a: {t}[n, m], {b}, k: i64", f"c = {made}\nreturn {more}")
    return Program(text, tuple((n, max(m, 1)) for n, m in sizes(r, n=(*SHORT, 16, 17, 33), m=(1, 2, 3, 4, 5, 8, 9, 16, 17, 33))), low=-3, high=3, nan=r.random() < 0.3 and t != "i64")


def closures(r: Chooser) -> Program:
    """Local functions and lambdas that capture arrays, sizes, indices and each other."""
    t = one_of(r, "f64", "i64")
    inner = one_of(r, "x[j % n] * v + n", "sum(x[q] * v for q in range(j % (n + 1)))", "v + j if v > x[j % n] else x[(j + 1) % n]", "max(v, x[j % n]) - n", "sum([w + v for w in x[:2]])" if r.random() < 0.3 else "x[0] + v")
    g = one_of(r, f"def g(v, j):\n    return {inner}", f"g = lambda v, j: {inner}", f"def g(v, j):\n    z = {inner}\n    for q in range(2):\n        z = z + x[q % n]\n    return z")
    h = one_of(r, "def h(j):\n    return g(x[j % n], j) - g(y[j % n], j + 1)", "h = lambda j: g(g(x[j % n], j), j)", "def h(j):\n    return sum(g(v, j) for v in y)", "def h(j):\n    w = y\n    w[j % n] = g(w[0], j)\n    return sum(w)")
    use = one_of(r, "return [h(i) for i in range(n)]", "return map(lambda v: g(v, 1) + h(2), x)", "s = x[0]\nfor i in range(n):\n    s = s + h(i)\nreturn s", "return sum(h(i) for i in range(n) if x[i] > 0)", "return [[g(x[i], j) for j in range(3)] for i in range(n)]", "return reduce(lambda p, q: p + q, x[0] * 0, [h(i) for i in range(n)])", "for i in range(n):\n    if g(x[i], i) > h(i):\n        y[i] = h(n - 1 - i) % 50\nreturn y")
    if "h(n - 1 - i)" in use:  # what a local function captured must not be changed afterwards
        use = "z = y\nfor i in range(n):\n    if g(x[i], i) > h(i):\n        z[i] = h(n - 1 - i) % 50\nreturn z, y"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"{g}\n{h}\n{use}"), tuple((max(n, 1), 1) for n, _ in sizes(r, n=(1, 2, 3, 4, 9, 17))), low=-3, high=3)


def mixed(r: Chooser) -> Program:
    """Operators between dtypes as they come: wider of a kind, floats win, bools count, floors and remainders of negatives."""
    kinds = [r.choice(("i64", "i32", "f64", "u8", "bool_")) for _ in range(3)]

    def leaf() -> str:
        return r.choice(("x[i]", "y[i]", "z[i]", "x[n - 1 - i]"))

    def e(depth: int) -> str:
        if depth == 0:
            return leaf()
        return r.choice((f"({e(depth - 1)} + {e(depth - 1)})", f"({e(depth - 1)} * {e(depth - 1)})", f"({e(depth - 1)} + i)", f"max({leaf()}, {e(depth - 1)})", f"({leaf()} if {leaf()} > {leaf()} else {e(depth - 1)})", f"(i64({leaf()}) - {e(depth - 1)})", f"(i64({leaf()}) // 3)", f"(i64({leaf()}) % 4)", f"(i64({leaf()}) // -3)", f"(f64({leaf()}) / 4)", f"f64({e(depth - 1)})"))

    how = one_of(r, "return [{0} for i in range(n)]", "return sum({0} for i in range(n)), max([{1} for i in range(n)], default=0)", "c = [{0} for i in range(n)]\nreturn c, sum(c), scan(add, c[0] * 0, c)", "s = 0.0\nfor i in range(n):\n    s = s + {0}\nreturn s, [{1} for i in range(n)]", "return [i for i in range(n) if {0} > {1}]")
    if "c[0]" in how:
        how = how if r.random() < 0.5 else "return [{0} for i in range(n)], any([{0} > {1} for i in range(n)])"
    body = how.format(f"i64({e(2)})" if r.random() < 0.5 else f"f64({e(2)})", f"f64({e(1)})")
    return Program(function(", ".join(f"{v}: {t}[n]" for v, t in zip("xyz", kinds, strict=True)) + ", k: i64", body), tuple((n if "c[0]" not in body else max(n, 1), 1) for n, _ in sizes(r, n=(*TINY, *AROUND))), low=-9, high=9)
