"""Templates about arrays that are one of two, and about what is read of an array that a loop changes: chosen before, in a branch of a round or of a loop inside; only read, or updated afterwards; elements
and rows kept for later; stacks of numbers and of rows; `while` whose condition says that a place is there, with updates in branches behind it."""

from __future__ import annotations

from .words import AROUND, TINY, Chooser, Program, function, number, one_of, sizes, span, zero

FEW = ((1, 1), (2, 2), (3, 1), (4, 2), (5, 3), (8, 2), (9, 1))


def _indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in text.split("\n"))


def one_of_two(r: Chooser) -> Program:
    """row = a if c else b, of states, of what is made in the round, of arguments: read, handed on, updated, stored as state."""
    t = one_of(r, "f64", "i64")
    names = ["a", "b", "w"]
    p, q = r.choice(names), r.choice(names)
    made = one_of(r, q, q, f"[v + {number(r, t)} for v in {q}]", "x", f"reverse({q})", f"[{p}[j] + {q}[n - 1 - j] for j in range(n)]", f"{q} + {p}")
    test = one_of(r, "x[i % n] > 0", "i % 2 == 0", f"{p}[i % n] > {q}[0]", "s > 2", "k > 2", "i > 0 and x[i - 1] > 0", "i < n and x[i] > y[i % n]")
    choice = r.choice((
        f"row = {p} if {test} else {made}", f"if {test}:\n    row = {p}\nelse:\n    row = {made}", f"row = {p}\nif {test}:\n    row = {made}", f"if {test}:\n    row = {made}\n    s = s + 1\nelse:\n    row = {p}\n    {p}[i % n] += 1",
        f"row, z = ({p}, {q}) if {test} else ({made}, {p})\ns = s + z[0]", f"if {test}:\n    row = {p}\nelif s > 4:\n    row = {made}\nelse:\n    row = {q}\n    row[0] = s", f"row = {p} if {test} else ({made} if s > 3 else {q})", f"if {test}:\n    {p}[i % n] = 2\n    row = {p}\nelse:\n    row = {made}",
    ))
    use = r.choice((
        "s = s + row[i % n]", "s = s + sum(row)", f"{p}[i % n] = row[(i + 1) % n]", f"{p} = row", f"{p}, {q} = {q}, row", "row[i % n] += 3\ns = s + row[0]", f"for j in range({span(r, 'n')}):\n    s = s + row[j] * {p}[n - 1 - j]", f"{p} = [v + row[0] for v in {p}]",
        f"for j in range({span(r, 'n')}):\n    {p}[j] = row[n - 1 - j]", f"{p}[i % n] = 5\ns = s + row[i % n]", f"while s < 4:\n    s = s + 1 + abs(row[0])\n    {p}[0] = s", f"if x[0] > 0:\n    {p} = row\n    {p}[0] = 7", f"{p}[1:] = row[:-1]", f"d = [abs(v) for v in row]\n{p}[i % n] = max(d)", f"{p} = row\ns = s + {q}[0]",
    ))
    damp = f"s = s % 50\n{p} = [v % 50 for v in {p}]" if t == "i64" else f"s = s * {t}(0.25)\n{p} = [v * 0.25 for v in {p}]"
    body = f"{choice}\n{use}\n{damp}"
    if r.random() < 0.3:
        body = f"for i2 in range({one_of(r, '2', 'k % 3', 'i')}):\n{_indented(body)}"
    if r.random() < 0.2:
        body = f"if x[i % n] < 4:\n{_indented(body)}"
    loop = one_of(r, f"for i in range({one_of(r, 'n', '3', span(r, 'n'))}):\n", "i = 0\nwhile i < n and s < 40:\n")
    body = _indented(body + ("\ni += 1" if "while i" in loop else ""))
    return Program(function(f"a: {t}[n], b: {t}[n], w: {t}[n], x: {t}[n], y: {t}[n], k: i64", f"s = {zero(t)}\n{loop}{body}\nreturn a, b, w, s"), tuple(r.sample(FEW, 4)), low=-4, high=5)


def kept_before(r: Chooser) -> Program:
    """Elements and rows of an array are read, then it is changed, then what was read is used; once, in loops inside, in branches."""
    t = one_of(r, "i64", "f64")
    if r.random() < 0.5:
        place, to = one_of(r, "i % n", "top % n", "(i * k) % n", "abs(p) % n"), one_of(r, "(i + 1) % n", "n - 1", "top % n", "i % n", "0")
        kept = r.choice((f"u, v = a[{place}]", f"u = a[{place}, 0]\nv = a[{to}, 1]", f"row = a[{place}]\nu, v = row[0], row[1]", f"row = a[{place}]\nu, v = 1, 2", f"u, v = a[{place}]\nrow = a[{to}]", f"row, v = a[{place}], 3\nu = a[{to}, 1]"))
        change = r.choice((
            f"a[{to}] = v, u", f"a[{to}, 0] = u + v", f"a[{to}] = a[{place}]", f"a[{place}], a[{to}] = a[{to}], a[{place}]", "for j in range(3):\n    a[(top + j) % n] = u, v + j", f"if u > v:\n    a[{to}] = u, v\n    top += 1\nelse:\n    a[{place}, 1] += 1", "for j in range(n):\n    if a[j, 0] > u:\n        a[j] = v, u\n        top += 1",
            "while top < n:\n    a[top] = u, v\n    top += 1", "a = [[p2 + 1 for p2 in row2] for row2 in a]", f"for j in range({span(r, 'n')}):\n    a[j, 1] -= u",
        ))
        use = r.choice(("s = s + u - v", "s = s + u * a[0, 0]", "p = u + v", "s = s + v\np = u", "b[i % n] = u + v")) + (r.choice(("\ns = s + row[1]", "\nb[0] = row[0] + row[1]", "\na[0] = row", "\nfor j in range(2):\n    s = s + row[j]")) if "row" in kept else "")
        cut = "s, p = s % 50, p % 50\na = [[z % 50 for z in l] for l in a]"
        body = f"s, p, top = 0, k, 0\nfor i in range({one_of(r, 'n', '3', 'k % 5')}):\n{_indented(kept)}\n{_indented(change)}\n{_indented(use)}\n{_indented(cut)}\n    top = top % n\nreturn a, b, s, top"
        return Program(function("a: i64[n, 2], b: i64[n], k: i64", body), tuple((max(n, 1), 1) for n, _ in sizes(r, n=(1, 2, 3, 4, 5, 9))), low=-4, high=5)
    kept = one_of(r, "row = a[i]", "row = a[k % n]", "row = a[i, :i]", "row = a[i, 1:]", "row = a[:, i % m]", "row = a[0]\n    c = a[i]", "row = [v * 2 for v in a[i]]", "d = a[i, 0]\n    row = a[n - 1 - i]")
    step = r.choice((
        "for j in range(i + 1, n):\n    for q in range(m):\n        a[j, q] = a[j, q] - row[q % len(row)] * a[j, i % m]", "for j in range(n):\n    a[j] = [v + row[0] for v in a[j]]", "a[i] = a[(i + 1) % n]\na[(i + 1) % n, 0] = row[len(row) - 1]", "for j in range(m):\n    a[i, j] = row[j % len(row)] + a[i, max(j - 1, 0)]",
        "if row[0] > 0:\n    a[i] = a[0]\n    a[0, 0] += row[0]", "for j in range(n):\n    if j != i:\n        a[j, 0] += row[0]", "a[i, :] = a[0, :]\ns = s + sum(row)", "for q in range(len(row)):\n    a[i, q] = row[len(row) - 1 - q]", "a[i] += a[n - 1 - i]\na[n - 1 - i, 0] = row[0]",
    ))
    damp = "a = [[v % 50 for v in l] for l in a]" if t == "i64" else "a = [[v * 0.25 for v in l] for l in a]"
    guard = "if len(row) > 0:\n" + _indented(step)
    body = f"s = {zero(t)}\nfor i in range({one_of(r, 'n', span(r, 'n'), 'n - 1')}):\n    {kept}\n{_indented(guard)}\n    s = s + a[i, 0]{one_of(r, '', ' + (row[0] if len(row) > 0 else 0)')}\n" + ("    " + damp + "\n" if r.random() < 0.5 or t == "i64" else "") + "return a, s"
    return Program(function(f"a: {t}[n, m], b: {t}[n], k: i64", body), tuple((max(n, 1), max(m, 1)) for n, m in sizes(r, n=(1, 2, 3, 4, 5), m=(1, 2, 3, 4))), low=-3, high=3)


def guarded_while(r: Chooser) -> Program:
    """A search that goes on and back: the condition of the loop makes places readable, updates stand in branches, some leave the loop."""
    begin, inside = r.choice((("0", "0 <= p < n"), ("n - 1", "p >= 0 and p < n"), ("k % n", "-1 < p and p < n"), ("0", "0 <= p and p < n and t < 30"), ("0", "p < n and p >= 0 and b[p] < 9"), ("0", "p != n and p >= 0"), ("n // 2", "not (p < 0 or p >= n)"), ("0", "0 <= p < n and a[p] < 30")))
    place = one_of(r, "p", "p", "n - 1 - p", "(p + 1) % n", "b[p] % n")
    test = one_of(r, "a[p] >= 0", "a[p] % 2 == 0", "b[p] > a[p]", f"a[{place}] > t", "t % 3 == 1", "a[p] == k", "a[p] > a[n - 1 - p]")
    on = r.choice((f"a[{place}] = -1\n    p += 1", f"a[{place}] += 1\n    p += 1", f"b[{place}], a[p] = a[p], b[{place}]\n    p += 1", "if p + 1 < n:\n        a[p + 1] = -1\n    p += 1", "p += 1\n    if p < n:\n        a[p] = t", f"s += a[{place}]\n    a[{place}] = s % 7\n    p += 2", "p += 1\n    if p >= n:\n        break\n    b[p] -= 1"))
    back = r.choice(("a[p] = b[p]\n    p -= 1", "p -= 1", "a[p] = a[p] + 1\n    p -= t % 2", "b[p] = 0\n    p -= 1\n    if p >= 0:\n        a[p] += 1", "s += 1\n    if s > 9:\n        break\n    a[p] += 2\n    p -= 1", "a[p] = 1\n    if a[p] > s:\n        continue\n    p += 1", f"a[{place}] = 3\n    break", "a, b = b, a\n    p -= 1"))
    more = one_of(r, "", "", f"elif b[p] > 2:\n    b[{place}] -= 1\n    s += p\n", "elif t > 20:\n    return a, b, s, p\n")
    after = one_of(r, "", "", "s += a[p] if 0 <= p < n else 1\n", "if 0 <= p < n:\n    b[p] = s\n")
    body = f"if {test}:\n    {on}\n{more}else:\n    {back}\n{after}".rstrip("\n")
    return Program(function("a: i64[n], b: i64[n], k: i64", f"s, t, p = 0, 0, {begin}\nwhile {inside}:\n    t += 1\n    if t > 40:\n        break\n{_indented(body)}\nreturn a, b, s, p"), ((1, 1), (2, 1), (3, 1), (r.choice((4, 5)), 1), (8, 1)), low=-3, high=6)


def stacks(r: Chooser) -> Program:
    """Work lists: pushed in branches and loops inside, popped while there is something; numbers, or rows of two."""
    rows = r.random() < 0.4
    push = (lambda v: f"st[top] = {v}, d + 1") if rows else (lambda v: f"st[top] = {v}")
    pop = r.choice(("v, d = st[top]", "v = st[top, 0]\n    d = st[top, 1]", "e = st[top]\n    v, d = e[0], e[1]")) if rows else "v, d = st[top], 0"
    visit = one_of(r, "if seen[v] == 0:", "if seen[v] < 2:", "if seen[v] == 0 and x[v] > -3:")
    mark = one_of(r, "seen[v] = 1", "seen[v] += 1", "seen[v] = t", "seen[v] += 1\n        o[v] = d + 1")
    work = r.choice((
        f"for j in range(n):\n            if g[v, j] > 0 and top < n * n:\n                {push('j')}\n                top += 1", f"for j in range(n):\n            if g[v, j] > 0 and seen[j] == 0 and top < n * n:\n                seen[j] += 0\n                {push('j')}\n                top += 1", f"if top < n * n - 2:\n            {push('(v + 1) % n')}\n            top += 1\n            {push('x[v] % n')}\n            top += 1",
        f"for j in range(v, n):\n            if top >= n * n:\n                break\n            if g[j, v] < 1:\n                continue\n            {push('j')}\n            top += 1", f"o[v] += x[v]\n        if x[v] > 0 and top + 1 < n * n:\n            st[top], st[top + 1] = st[top + 1], st[top]\n            {push('x[v] % n')}\n            top += 1",
    ))
    more = one_of(r, "", "\n    else:\n        s += d + 1", "\n    else:\n        o[v] -= 1", "\n    if s > 60:\n        break", "\n    if top == 0 and s < 9:\n        " + push("k % n") + "\n        top += 1\n        s += 9")
    kind_ = "zeros((n * n + 1, 2), dtype=i64)" if rows else "zeros(n * n + 1, dtype=i64)"
    body = f"st = {kind_}\nseen = [0 for _ in range(n)]\no = [0 for _ in range(n)]\ns, t, top, d = 0, 0, 0, 0\n{push('k % n')}\ntop += 1\nwhile top > 0 and t < 200:\n    t += 1\n    top -= 1\n    {pop}\n    {visit}\n        {mark}\n        s += v + d\n        {work}{more}\nreturn seen, o, s, t"
    return Program(function("g: i64[n, n], x: i64[n], k: i64", body), ((1, 1), (2, 1), (3, 1), (r.choice((4, 5)), 1)), low=-2, high=2)


def sorted_rows(r: Chooser) -> Program:
    """Rows and parts of rows sorted in rounds, with what is summed or updated beside them."""
    t = one_of(r, "f64", "i64", "f32", "i32")
    what = one_of(r, "a[i]", "a[i, :j + 1]", "a[i, 1:]", "[v * v for v in a[i]]", "a[:, i % m]", "[v for v in a[i] if v > 0]", "a[i] + a[n - 1 - i]")
    how = one_of(r, "sort({})", "sorted({}, reverse=True)", "sorted({}, key=lambda v: -v)", "sort({})[::-1]")
    o = r.choice((f"[{how} for i in range(n)]", f"sum((lambda z: sum(z[q] * q for q in range(len(z))))({how}) for i in range(n))", f"[sum({how}) for i in range(n)]", f"[(lambda z: z[len(z) // 2] if len(z) > 0 else {zero(t)})({how}) for i in range(n)]")).format(what.replace("j", "min(i, m - 1)"))
    if r.random() < 0.4 or ("if v" in what and o.startswith("[sort")):
        line = f"z = {how.format(what.replace('j', 'min(i, m - 1)'))}"
        use = one_of(r, "s = s + (z[0] if len(z) > 0 else 0)", "for q in range(min(len(z), m)):\n        a[i, q] = z[q]", "if len(z) == m:\n        a[i] = z", "w = argsort(z)\n    s = s + sum(z[q] * 2 for q in w)", "for q in range(1, len(z)):\n        if z[q] == z[q - 1]:\n            s = s + 1")
        return Program(function(f"a: {t}[n, m], k: i64", f"s = {zero(t)}\nfor i in range(n):\n    {line}\n    {use}\nreturn a, s"), tuple((max(n, 1), max(m, 1)) for n, m in sizes(r, n=(1, 2, 3, 5), m=(*TINY, *AROUND))), low=-3, high=3)
    return Program(function(f"a: {t}[n, m], k: i64", f"return {o}"), tuple((max(n, 1), max(m, 1)) for n, m in sizes(r, n=(1, 2, 3, 5), m=(*TINY, *AROUND))), low=-3, high=3)
