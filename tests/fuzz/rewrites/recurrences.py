"""Templates of rounds that wait for each other, and of rounds that only look as if they did."""

from __future__ import annotations

from .words import TINY, Program, far, function, kind, number, one_of, sizes, span, value, zero

AN = "a: {t}[n, m], b: {t}[n, m], x: {t}[n], y: {t}[m], k: i64"
SMALL = (*TINY, 4, 5, 9, 16, 17, 33)


def tame(t: str, e: str) -> str:
    """A value that does not grow from round to round."""
    return f"({e}) * 0.25" if t.startswith("f") else f"({e}) % 101 - 50"


def turned(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "f32")
    op = one_of(r, "scan(add, {z}, c)", "scan(maximum, {z}, c)", "[v + 1 for v in c]", "scan(add, {z}, c, exclusive=True)").replace("{z}", zero(t))
    body = one_of(r, f"return map(lambda c: {op}, a.T).T", f"d = map(lambda c: {op}, a.T)\nreturn d.T, d", f"return map(lambda c: {op}, b).T", f"def g(c):\n    s = {zero(t)}\n    z = [v for v in c]\n    for i in range(n):\n        s = s + c[i]\n        z[i] = s + z[max(i - {far(r)}, 0)]\n    return z\nreturn map(g, a.T).T")
    return Program(function(AN.format(t=t), body), sizes(r, n=SMALL, m=(*TINY, 8, 63, 64, 65, 255, 256, 257), count=4))


def carried(r: Chooser) -> Program:
    t = kind(r)
    d = far(r)
    e = tame(t, f"x[i - {d}] + " + value(r, t, ["z[i]", f"x[i - {d}]", "z[i]", "x[i]"], 1))
    more = one_of(r, "", f"\n    x[i - {d}] = x[i] + 1", f"\n    z[i] = x[i - {d}]", f"\n    z[n - 1 - i] = x[i - {d}]", "\n    if z[i] > 0:\n        z[i] = x[i]", f"\n    x[i] = x[i - {d}] - x[i]")
    way = int(one_of(r, "0", "1", "2", "3"))
    if way == 3:  # one element for several rounds, read before or behind its store
        q = one_of(r, "2", "3")
        lines = [f"x[i // {q}] = {tame(t, f'x[(i - 1) // {q}] + z[i]')}", f"w[i] = x[(i - 1) // {q}]"]
        r.shuffle(lines)
        return Program(function(f"x: {t}[n], z: {t}[n], k: i64", f"w = zeros(n, dtype={t})\nfor i in range(1, n):\n    {lines[0]}\n    {lines[1]}", "return x, w"), sizes(r))
    if way == 0:
        return Program(function(f"x: {t}[n], z: {t}[n], k: i64", f"for i in range({one_of(r, f'{d}, n', f'{d}, n - 1', f'{d} + k % 3, n', f'n - 1, {d - 1}, -1')}):\n    x[i] = {e}{more}", "return x, z"), sizes(r))
    if way == 1:
        return Program(function(f"x: {t}[n], z: {t}[n], k: i64", f"for i in range({d}, n):\n    if z[i] > {number(r, t)}:\n        x[i] = {e}\n    else:\n        x[i] = x[i - {d}]{more}", "return x, z"), sizes(r))
    return Program(function(AN.format(t=t), f"for i in range({span(r, 'n')}):\n    for j in range({d}, m):\n        a[i, j] = {tame(t, value(r, t, [f'a[i, j - {d}]', 'b[i, j]', 'y[j]']))}", "return a"), sizes(r))


def waiting(r: Chooser) -> Program:
    t = one_of(r, "i64", "i64", "i32", "f64")
    op = one_of(r, "min", "max")
    parts = [f"best {one_of(r, '+', '-')} {r.choice((1, 2))}", one_of(r, "x[i]", "x[i] - z[i]"), one_of(r, "z[i]", "best", f"x[max(i - {far(r)}, 0)]")]
    r.shuffle(parts)
    e = f"{op}({op}({parts[0]}, {parts[1]}), {parts[2]})"
    if r.random() < 0.4:
        e = f"{op}({parts[0]}, {op}({parts[1]}, {parts[2]}))"
    more = one_of(r, "z[i] = best", "x[i] = best", "z[i] = best + x[i]", f"c = {op}(c, best)\n    z[i] = c")
    return Program(function(f"x: {t}[n], z: {t}[n], k: i64", f"best, c = {t}(5), {zero(t)}\nfor i in range({span(r, 'n')}):\n    best = {e}\n    {more}", "return x, z, best, c"), sizes(r))


def lanes(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "f32", "i64")
    slow = "1.0 / (2.0 + abs(s))" if t.startswith("f") else "s % 7"
    way = r.randrange(4)
    d = far(r, 4)
    step = f"{tame(t, 's + a[i, j]')} + {slow}"
    if way == 0:
        body = f"def g(i):\n    s = {zero(t)}\n    for j in range({one_of(r, 'm', span(r, 'm'))}):\n        s = {step}\n    return s\nreturn [g(i) for i in range({one_of(r, 'n', span(r, 'n'))})]"
    elif way == 1:
        body = f"def g(row):\n    p = zeros(m, dtype={t})\n    for j in range({d}, m):\n        p[j] = {tame(t, f'p[j - {d}] + row[j]')} + {one_of(r, slow.replace('abs(s)', 'abs(p[j - 1])').replace('s % 7', 'p[j - 1] % 7'), number(r, t))}\n    c = [v for v in row]\n    for j in range({one_of(r, 'm', '1, m')}):\n        c[j] = c[j] + p[m - 1 - j]\n    return {one_of(r, 'c', 'p', '[v + w for v, w in zip(c, p)]')}\nreturn [g(row) for row in a]"
    elif way == 2:
        body = f"def g(j):\n    s, u = {t}(1), {zero(t)}\n    for i in range({one_of(r, 'n', span(r, 'n'))}):\n        s = {tame(t, 's + a[i, j]')}\n    for i in range(n):\n        u = {tame(t, 'u + s * a[i, j]')}\n    return s + u\nreturn [g(j) for j in range({one_of(r, 'm', span(r, 'm'))})]"
    else:
        body = f"def g(i):\n    s = x[i]\n    for j in range(k % 6 + 2):\n        s = {step.replace('a[i, j]', 'x[i]')}\n    return s\nreturn sum(g(i) for i in range({one_of(r, 'n', span(r, 'n'))})), [g(i) for i in range(n)]"
    return Program(function(AN.format(t=t), body), sizes(r, m=(*TINY, 7, 8, 9, 16, 17, 256, 257)))


def searches(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "f32")
    stop = one_of(r, "c < k % 9 + 1", f"v < {t}(20) and c < 12", f"abs(v) <= {t}(9) and c < 9", "c < x[i]" if t == "i64" else "c < 5 and v > y0", "c < 7 and v != y0")
    step = tame(t, "v + x[i]") if r.random() < 0.5 else "v + v - 1" if t == "i64" else "v * 1.5 + 0.5"
    order = one_of(r, f"        v = {step}\n        c = c + 1", f"        c = c + 1\n        v = {step}", f"        v, c, y0 = {step}, c + 1, v")
    body = f"def g(i):\n    v, c, y0 = x[i], 0, x[i] + 1\n    while {stop}:\n{order}\n    return {one_of(r, 'c', 'v', 'v + c')}\nreturn {one_of(r, '[g(i) for i in range({w})]', 'sum(g(i) for i in range({w}))').replace('{w}', one_of(r, 'n', span(r, 'n')))}"
    return Program(function(f"x: {t}[n], k: i64", body), sizes(r, n=(*TINY, 7, 8, 15, 16, 17, 31, 32, 33, 65)))


def wave(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "i64", "i32")
    d = far(r)
    size = sizes(r, n=(*TINY, 15, 16, 17, 63, 64, 65, 130), m=(*TINY, 16, 17, 64, 65, 66, 67, 130), count=4)
    op = one_of(r, "min", "max", "mean")

    def both(p: str, q: str) -> str:
        mean = f"({p} + {q}) * 0.5" if t == "f64" else f"({p} + {q}) % 101"
        return mean if op == "mean" else f"{op}({p}, {q})"

    if r.random() < 0.5:
        to = one_of(r, "row[j]", f"row[j + {d}]")
        up = one_of(r, to, f"row[j + {d}]", "row[j]", f"row[j + {d} - 1]")
        e = both(both(f"{up} + 1", one_of(r, "left + x[i]", "left")), f"corner + {one_of(r, 'y[j]', '1')}")
        before = one_of(r, f"left, corner = x[i], {zero(t)}", f"left = {zero(t)}", f"left, corner = corner, {zero(t)}", "row[0:1] = y[0:1]")
        after = one_of(r, f"corner = {up}\n        {to} = here\n        left = here", f"corner = {up}\n        {to} = left\n        left = here", f"{to} = here\n        corner = {up}\n        left = here")
        more = one_of(r, "", "", "\n        best = max(best, here)", "\n        c = c + here" if t != "f64" else "", "\n        row[j] = row[j] + 1", "\n    x[i] = left")
        body = f"row = [v for v in y]\nleft, corner, best, c = {zero(t)}, {zero(t)}, {zero(t)}, {zero(t)}\nfor i in range({span(r, 'n')}):\n    {before}\n    for j in range({'m' if to == up == 'row[j]' else f'm - {d}'}):\n        here = {e}\n        {after}{more}"
        return Program(function(AN.format(t=t), body, "return row, best, c, left, x"), size)
    reads = [f"a[i - {one_of(r, '1', '2')}, j]", f"a[i, j - {d}]", f"a[i - 1, j - {one_of(r, '1', str(d))}]"]
    if r.random() > r.plain:
        reads[r.randrange(3)] = one_of(r, f"a[i - 1, (j + {d}) % m]", f"a[i - 2, j - {d}]", "b[i, j]", f"b[i - 1, j - {d}]", "a[i, j]", "a[i - 2, (j + 1) % m]")
    e = both(both(f"{reads[0]} + x[i]", reads[1]), f"{reads[2]} + y[j]")
    rows, columns = one_of(r, "2, n", "2, n - 1", "2 + k % 3, n"), one_of(r, f"{d}, m", f"{d}, m - 1", f"{d} + 1, m")
    return Program(function(AN.format(t=t), f"for i in range({rows}):\n    for j in range({columns}):\n        {one_of(r, 'a[i, j]', 'a[i, j]', f'a[i, j - {d}]', 'a[i - 1, j]')} = {e}", "return a"), size)


def elimination(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "i64", "f32")
    low, right = one_of(r, "p + 1", "p + 1", "p + 1", "p", "0", "p + 2"), one_of(r, "p + 1", "p + 1", "p + 1", "p", "0", "p + 2")
    bottom = one_of(r, "n", "n", "i + 1", "n - 1")
    pivot = one_of(r, "a[i, p]", "a[i, p]", "a[i, p] * x[p]", "a[i, max(p - 1, 0)]", "a[i, min(p + 1, n - 1)]")
    row = one_of(r, "a[p, j]", "a[p, j]", "a[p, j]", "a[j, p]", "a[min(p + 1, n - 1), j]", "b[p, j]")
    e = f"a[i, j] - f0 * {row}" if t.startswith("f") else f"(a[i, j] - f0 * {row}) % 101"
    before = one_of(r, "", "", f"\n    for q in range({low}, n):\n        a[q, p] = a[q, p] * {number(r, t)}", "\n    x[p] = a[p, p] + 1", "\n    s = s + a[p, p]")
    body = f"s = {zero(t)}\nfor p in range({one_of(r, 'n', 'n', 'n - 1', span(r, 'n'))}):{before}\n    for i in range({low}, n):\n        f0 = {pivot}{' * 0.125' if t.startswith('f') else ' % 3'}\n        for j in range({right}, {bottom}):\n            a[i, j] = {e}"
    return Program(function(f"a: {t}[n, n], b: {t}[n, n], x: {t}[n], k: i64", body, "return a, x, s"), sizes(r, n=(*TINY, 4, 5, 31, 32, 33, 37, 38, 41), count=4))


def looking_back(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "i64", "f32")
    low = one_of(r, "j + 1", "j", "j + 1", "j + 2", "0")
    high = one_of(r, "j", "j", "j", "j + 1", "max(j - 1, 0)", f"max(j - {far(r)}, 0)", "i")
    left, right = one_of(r, "a[i, r]", "a[i, r]", "b[i, r]", "a[r, i]"), one_of(r, "a[j, r]", "a[j, r]", "b[j, r]", "b[r, j]", "a[r, j]")
    total = f"sum({left} * {right} for r in range({one_of(r, high, high, f'1, {high}')}))"
    e = f"(b[i, j] - {total}) * 0.125" if t.startswith("f") else f"(b[i, j] - {total}) % 11"
    more = one_of(r, "", "", "\n    a[j, j] = a[j, j] + 1", f"\n    for i in range({low}, n):\n        a[i, j] = a[i, j] * {number(r, t)}", "\n    x[j] = sum(a[j, r] for r in range(j))")
    scale = "* 0.125" if t.startswith("f") else "% 11"
    first = one_of(r, f"\n    a[j, j] = (b[j, j] - sum(a[j, r] * a[j, r] for r in range(j))) {scale}", f"\n    a[j, j] = (b[j, j] - sum(a[j, r] * a[j, r] for r in range(j))) {scale}", "", "\n    a[j, j] = b[j, j]")
    e = e + one_of(r, " + a[j, j]" if first else "", "")
    body = f"for j in range({one_of(r, 'n', 'n', 'n - 1', '1, n')}):{first}\n    for i in range({low}, {one_of(r, 'n', 'n', 'n', 'n - 1', 'j + 9 if j + 9 < n else n')}):\n        a[i, j] = {e}{more}"
    return Program(function(f"a: {t}[n, n], b: {t}[n, n], x: {t}[n], k: i64", body, "return a, x"), sizes(r, n=(*TINY, 4, 5, 15, 16, 17, 18, 31, 32, 33, 35), count=4))


def rows_looking_back(r: Chooser) -> Program:
    """Rows that wait for themselves: what they read of other rows, and what else a round does, is now apart from it and now not."""
    t = one_of(r, "f64", "f64", "i64", "f32")
    scale = "* 0.0625" if t.startswith("f") else "% 11"
    left, right = one_of(r, "a[i, r]", "a[i, r]", "a[i, r]", "b[i, r]"), one_of(r, "a[j, r]", "a[j, r]", "a[j, r]", "b[j, r]", "a[max(i - 1, 0), r]", "a[n - 1 - j, r]")
    total = f"sum({left} * {right} for r in range({one_of(r, 'j', 'j', 'j', 'j + 1', 'i')}))"
    e = f"(b[i, j] - {total}) {scale}" + one_of(r, "", " + a[j, j]", " + a[max(i - 1, 0), j]", f" + a[max(j - {far(r)}, 0), j]")
    after = one_of(
        r,
        f"\n    a[i, i] = (b[i, i] - sum(a[i, r] * a[i, r] for r in range(i))) {scale}",
        "",
        "\n    x[i] = sum(a[i, r] for r in range(i))",
        f"\n    for j in range(i, n):\n        a[i, j] = (b[i, j] - a[{one_of(r, 'i', 'max(i - 1, 0)')}, j]) {scale}",
        f"\n    a[{one_of(r, 'i // 2', '0', 'n - 1', 'i')}, {one_of(r, '0', 'i', 'i // 2')}] = x[i]",
    )
    high = one_of(r, "i", "i", "i", "i + 1", "max(i - 2, 0)")
    body = f"for i in range({one_of(r, 'n', 'n', '1, n', 'n - 1')}):\n    for j in range({high}):\n        a[i, j] = {e}{after}"
    return Program(function(f"a: {t}[n, n], b: {t}[n, n], x: {t}[n], k: i64", body, "return a, x"), sizes(r, n=(*TINY, 15, 63, 64, 65, 66, 67), count=3))


def pieces(r: Chooser) -> Program:
    t = kind(r)
    d = far(r)
    e = value(r, t, ["a[i, j]", "b[i, j]", one_of(r, "a[i, j]", f"a[i, max(j - {d}, 0)]", f"a[max(i - {d}, 0), j]", f"a[min(i + {d}, n - 1), j]", f"b[max(i - {d}, 0), j]", "a[i, 0]", "a[0, j]", "a[i, m - 1 - j]")])
    e = tame(t, e)
    place = one_of(r, "a[i, j]", "a[i, j]", "b[i, j]", "a[n - 1 - i, j]", "a[i, (j + 1) % m]", f"a[(i + {d}) % n, j]")
    before = one_of(r, "", "", "\n    c = [v for v in a[i]]", f"\n    x[i] = sum(a[i, q] for q in range({span(r, 'm')}))", "\n    w = a[i, 0] if m > 0 else x[i]")
    e = e.replace("b[i, j]", one_of(r, "c[j]", "b[i, j]")) if "c = " in before else e
    return Program(function(AN.format(t=t), f"for i in range({span(r, 'n')}):{before}\n    for j in range({span(r, 'm', 'i')}):\n        {place} = {e}", "return a, b, x"), sizes(r))


def distances(r: Chooser) -> Program:
    t = kind(r)
    d, g = far(r), far(r)
    read = one_of(r, f"z[i - {d}]", f"x[i - {d}]", f"x[i + {g}]", f"x[i - {d}] + x[i + {g}]", "x[n - 1 - i]", "x[i // 2]", "x[(2 * i) % n]", "x[p[i]]", f"x[max(i - {d}, 0)]", "x[0]", "x[n - 1]")
    place = one_of(r, "x[i]", "x[i]", "x[i]", f"x[i + {g}]", "x[n - 1 - i]", "z[i]", "x[(2 * i) % n]")
    where = one_of(r, f"{d}, n - {g}", f"{d}, n - {g}", f"n - {g} - 1, {d - 1}, -1", f"{d} + k % 4, n - {g}")
    e = tame(t, value(r, t, ["z[i]", f"({read})"]))
    more = one_of(r, "", f"\n    z[i] = x[i - {d}]", f"\n    z[i - {d}] = z[i] + 1", "\n    s = s + x[i]", f"\n    x[i - {d}], x[i] = x[i], x[i - {d}]")
    if r.random() < 0.3:
        return Program(function(AN.format(t=t), f"for i in range({d}, n):\n    a[i] = [{tame(t, 'v + w')} for v, w in zip(a[i - {d}], a[i])]\n    b[n - 1 - i] = a[i]", "return a, b"), sizes(r))
    return Program(function(f"x: {t}[n], z: {t}[n], p: i64[n], k: i64", f"s = {zero(t)}\nfor i in range({where}):\n    {place} = {e}{more}", "return x, z, s"), sizes(r, n=(*TINY, 4, 5, 16, 17, 18, 19, 33, 34, 35, 64)))


def made_in_rows(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "f32")
    d = far(r, 4)
    first = one_of(r, f"[v + {number(r, t)} for v in row]", "[v for v in row]", f"zeros(m, dtype={t})", "row")
    step = one_of(r, f"for j in range({d}, m):\n            c[m - 1 - j] = {tame(t, f'c[m - 1 - j] + c[m - 1 - j + {d}]')}", f"c = [{tame(t, 'v + w')} for v, w in zip(c, row)]", "if m > 0:\n            c[q % m] = c[q % m] + 1", "c[0:1] = c[m - 1:m] if m > 0 else c[0:1]")
    body = f"def g(row):\n    c = {first}\n    for q in range({one_of(r, '3', 'k % 4', 'm')}):\n        {step}\n    return {one_of(r, 'c', 'c', '[v * 2 for v in c]')}\nreturn [g(row) for row in a]"
    return Program(function(AN.format(t=t), body), sizes(r))


def written_out(r: Chooser) -> Program:
    t = kind(r)
    c = int(one_of(r, "3", "1", "2", "4", "8", "9", "10"))
    lo = int(one_of(r, "0", "1", "2", "9", "12"))
    step = one_of(r, f"s = {tame(t, 's + x[(i + q) % n]')}", f"x[(i + q) % n] = x[(i + q) % n] + {t}(q)", f"x[i] = {tame(t, 'x[i] + x[(i * q) % n]')}", f"s = s + {t}(q)")
    return Program(function(f"x: {t}[n], k: i64", f"s = {zero(t)}\nfor i in range({span(r, 'n')}):\n    for q in range({lo}, {c}):\n        {step}", "return x, s"), sizes(r))


def small_arrays(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "f32")
    c = r.choice((2, 3, 4))
    e = tame(t, value(r, t, ["s[q]", f"s[({r.randrange(c)} + q) % {c}]", "x[i]"]))
    if r.random() < max(0.4, r.plain):
        first = ", ".join(one_of(r, "v", "v + 1", f"v * {number(r, t)}") for _ in range(c))
        made = one_of(r, ", ".join(tame(t, f"s[{r.randrange(c)}] + s[{k}]") for k in range(c)), ", ".join(f"s[{c - 1 - k}]" for k in range(c)))
        more = one_of(r, "", f"\n        s[{r.randrange(c)}] = s[0] + v", f"\n        s[0], s[{c - 1}] = s[{c - 1}], s[0]", f"\n        if s[0] > s[{c - 1}]:\n            s[0] = v", f"\n        s[q % {c}] = v")
        last = one_of(r, "s[0]", "sum(s)", "s", f"s[k % {c}]")
        return Program(function(f"x: {t}[n], k: i64", f"def g(v):\n    s = [{first}]\n    for q in range({one_of(r, 'k % 7', '3', '0', 'n')}):\n        s = [{made}]{more}\n    return {last}\nreturn [g(v) for v in x]"), sizes(r))
    step = one_of(r, f"s = [{e} for q in range({c})]", f"u = [{e} for q in range({c})]\n    s, u2 = u, s\n    u = [v + w for v, w in zip(u2, s)]", f"s[{r.randrange(c)}] = {e.replace('q', '0')}", f"s[0], s[{c - 1}] = s[{c - 1}], s[0] + x[i]", f"for q in range({c}):\n        s[q] = {e}")
    return Program(function(f"x: {t}[n], k: i64", f"s = zeros({c}, dtype={t})\nfor i in range({span(r, 'n')}):\n    {step}\n    x[i] = s[{r.randrange(c)}]", one_of(r, "return x", "return x, s")), sizes(r))
