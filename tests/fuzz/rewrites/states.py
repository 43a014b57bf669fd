"""Templates of state: arrays exchanged, copied and changed in branches, matrices, slices, views that are then updated; ranges that are data; operators; dtypes."""

from __future__ import annotations

from .words import Program, far, function, kind, number, one_of, sizes, span, value, zero

FEW = (0, 1, 2, 3, 4, 5, 8, 9)


def _change(r: Chooser, names: tuple[str, ...], pad: str) -> str:
    p, q = r.choice(names), r.choice(names)
    i = r.choice(("i", "i", "(i + 1)", "s"))
    at, to = r.choice(("i", "(i + 1) % n", "s % n", f"{q}[i] % n", f"{q}[{i} % n] % n", "0")), r.choice(("i", "n - 1", f"{p}[0] % n", "(i + 3) % n", "s % n"))
    ways = [
        f"{p} = {q}", f"{p}[{at}] = {q}[{to}]", f"{p}[{at}] = {p}[{to}] + 1", f"{p}, {q} = {q}, {p}" if p != q else f"{p}[{at}] = i", f"{p}[{at}], {q}[{to}] = {q}[{to}], {p}[{at}]",
        f"{p} = [(v + {q}[{at}]) % 50 for v in {p}]", "s = (s + " + f"{p}[{at}]) % 50", f"{p}[1:] = {q}[:-1]", f"{p} = reverse({q})", f"{p} = {q}\n{p}[{at}] = {p}[{to}]", f"{p} = {q}\n{p}[{at}] = {q}[{to}] + 1", f"{p}[{at}] += 7",
    ]  # fmt: skip
    return "\n".join(pad + line for line in r.choice(ways).split("\n"))


def _lines(r: Chooser, names: tuple[str, ...], depth: int, pad: str) -> str:
    out = []
    for _ in range(r.randrange(1, 4)):
        if depth and r.random() < 0.4:
            test = one_of(r, f"{r.choice(names)}[i] > {r.randrange(-3, 5)}", "i % 3 == 0", "s > 3", f"{r.choice(names)}[s % n] < {r.choice(names)}[i]")
            out.append(f"{pad}if {test}:\n{_lines(r, names, depth - 1, pad + '    ')}" + (f"\n{pad}else:\n{_lines(r, names, depth - 1, pad + '    ')}" if r.random() < 0.5 else ""))
        elif depth and r.random() < 0.2:
            out.append(f"{pad}for q{depth} in range({r.choice(('2', '2', 's % 3', 'i % 3'))}):\n{_lines(r, names, depth - 1, pad + '    ')}")
        else:
            out.append(_change(r, names, pad))
    return "\n".join(out)


def exchanged(r: Chooser) -> Program:
    names = ("a", "b", "c")[: r.choice((2, 2, 3))]
    body = f"s = k % 7\nfor i in range({one_of(r, 'n', 'n - 1', '1, n')}):\n{_lines(r, names, 2, '    ')}\nreturn {', '.join(names)}, s"
    return Program(function(", ".join(f"{x}: i64[n]" for x in names) + ", k: i64", body), ((0, 0), (1, 1), (2, 1), *((r.choice((3, 4, 5, 9)), 1) for _ in range(3))))


def matrix(r: Chooser) -> Program:
    t = one_of(r, "i64", "f64", "i64", "f32")
    changes = [
        "a[i], a[n - 1 - i] = a[n - 1 - i], a[i]", "a[i], b[i] = b[i], a[i]", "a[i] = b[n - 1 - i]", "a[:, i % m] = x" if r.random() < 0.7 else "a[:, 0] += x", "a[i] += b[i]", "a = b", "a, b = b, a",
        f"a[i, (i + {far(r)}) % m] = x[i]", "b = [[v + 1 for v in row] for row in a]", "a[i, 1:] = a[i, :-1]", "a[1:] = b[:-1]", "x[i] = sum(a[i])", "if x[i] > 0:\n            a[i], a[0] = a[0], a[i]", "if x[i] > 0:\n            a = b\n            a[i] = b[0]",
        "a[i] = [v + w for v, w in zip(a[i], a[(i + 1) % n])]", "b[i] = reverse(a[i])", "a[i, i % m], a[n - 1 - i, i % m] = a[n - 1 - i, i % m], a[i, i % m]",
    ]  # fmt: skip
    chosen = "\n        ".join(r.choice(changes) for _ in range(r.choice((1, 2, 3))))
    body = f"for q in range({one_of(r, '1', '2', 'k % 3')}):\n    for i in range({one_of(r, 'n', 'n', 'n // 2', '1, n')}):\n        {chosen}\nreturn a, b, x"
    return Program(function(f"a: {t}[n, m], b: {t}[n, m], x: {t}[n], k: i64", body), tuple((n, max(1, m)) for n, m in sizes(r, n=FEW, m=FEW[1:])))


def slices(r: Chooser) -> Program:
    t = kind(r)
    d = r.choice((1, 1, 2, 3))
    changes = [
        f"a[{d}:] = a[:-{d}]", f"a[:-{d}] = a[{d}:]", f"a[{d}:] += a[:-{d}]", "a[::2] = 0", "a[::-1] = a", "a[::2] += b[::2]", f"m2[{d}:, :] = m2[:-{d}, :]", f"m2[:, {d}:] = m2[:, :-{d}]",
        f"m2[{d}:, {d}:] += m2[:-{d}, :-{d}]", "m2[::2] = 0", "m2[:, ::-1] = m2", "m2[:, 0] = a", "m2[0, :] = b", "m2[::-1, 0] += a", f"m2[1:, {d}:] = m2[:-1, {d}:] * 2", "a[:] = b", "m2[:] = transpose(m2)",
    ]  # fmt: skip
    chosen = [r.choice(changes) for _ in range(r.choice((1, 2, 3, 4)))]
    if r.random() < 0.4:
        body = "for i in range(k % 4):\n    " + "\n    ".join(chosen)
    else:
        body = "\n".join(chosen)
    body = f"if n > {d}:\n    " + body.replace("\n", "\n    ")
    return Program(function(f"a: {t}[n], b: {t}[n], m2: {t}[n, n], k: i64", f"{body}\nreturn a, b, m2"), tuple((n, 1) for n in (r.choice((0, 1, 2, 3)), 4, r.choice((5, 8, 9)), r.choice((16, 17)))))


def views(r: Chooser) -> Program:
    t = kind(r)
    seen = one_of(r, "a.T", "reverse(a)", "a[::-1]", "a[:, ::-1]", "transpose(reverse(a))", "reverse(transpose(a))", "a[::2]", "a[:, 1:]" if r.random() < 0.5 else "a[1:]")
    change = one_of(r, "c[0, 0] = 7", "c[0] = c[len(c) - 1]", "for i in range(len(c)):\n        c[i, 0] = c[i, len(c[0]) - 1]", "c = transpose(c)\n    c[0, 0] += 1", "c[:, 0] = 5", "a[0, 0] = 99", "a[0] = a[n - 1]\n    c[0, 0] = a[0, 0]", "d = c\n    d[0, 0] = 1\n    c = [[v + w for v, w in zip(p, q)] for p, q in zip(c, d)]")
    read = one_of(r, "c", "c, a", "[sum(row) for row in c], a", "transpose(c), a")
    body = f"c = {seen}\nif n > 2 and m > 2:\n    {change}\nreturn {read}"
    return Program(function(f"a: {t}[n, m], k: i64", body), tuple((max(n, 3), max(m, 3)) for n, m in sizes(r, n=(3, 4, 5, 9), m=(3, 4, 6))))


def ranges(r: Chooser) -> Program:
    t = one_of(r, "i64", "i64", "f64")

    def data(depth: int, names: list[str]) -> str:
        i = r.choice(names)
        return one_of(r, f"q[{i} % n] % 4", f"abs(q[{i} % n])", f"q[{i} % n]", f"q[{i} % n] % 3, q[({i} + 1) % n] % 5", f"{i}", f"{i}, n", f"{i} + 2, n", "3", f"sum(q[w % n] % 2 for w in range({i} % 3))", f"min(q[w % n] % 3 for w in range({i} % 3 + 1))", f"-{i}, {i} % 3", f"n - {i}, q[{i} % n] % 6")

    cond = [f" if {one_of(r, 'q[{0} % n] > 0', 'x[{0} % n] > 1', '{0} % 2 == 0', 'q[q[{0} % n] % n] < 2')}".format(v) for v in ("i", "j", "p")]
    c = [one_of(r, "", y, y) for y in cond]
    e = value(r, t, ["x[(i + j + p) % n]", "x[p % n]", "x[j % n]"], 1)
    inner = f"sum(sum({e} for p in range({data(2, ['i', 'j'])}){c[2]}) for j in range({data(1, ['i'])}){c[1]})"
    outer = one_of(r, f"return sum({inner} for i in range({one_of(r, 'n', '3', '7')}){c[0]}) if n > 0 else {zero(t)}", f"return [{inner} for i in range(n)]", f"return [{inner} if x[i % n] > 0 else {zero(t)} for i in range(n)]", f"s = {zero(t)}\nif n > 0:\n    for i in range(n):\n        if q[i] > 0:\n            for j in range({data(1, ['i'])}):\n                s = s + x[j % n]\n                for p in range({data(1, ['i', 'j'])}):\n                    x[p % n] = x[p % n] + 1\nreturn x, s")
    return Program(function(f"x: {t}[n], q: i64[n], k: i64", outer), tuple((n, 1) for n in (r.choice((0, 1)), 2, 3, r.choice((4, 5, 9)))), low=-5, high=6)


def operators(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64")
    e = value(r, t, ["x[i]", "y[i]"], 1)
    pair = one_of(r, "(p[0] + q[0], p[1] + q[1])", "(max(p[0], q[0]), p[1] + q[1])", "(p[0] + q[0], min(p[1], q[1]))", "(p[0], p[1]) if p[0] >= q[0] else (q[0], q[1])")
    ne = f"({t}(0), {t}(0))" if "max" not in pair and "min" not in pair and "if" not in pair else f"({t}(-100), {t}(0))" if "max" in pair or "if" in pair else f"({t}(0), {t}(100))"
    items = one_of(r, f"[({e}, x[i]) for i in range(n)]", "[(x[i], y[i]) for i in range(n)]", "[(y[0] * 0 + 1, y[0] * 0 + 1) for i in range(n)]" if r.random() < 0.3 else "[(x[i], x[n - 1 - i]) for i in range(n)]")
    way = r.randrange(4)
    if way == 0:
        body = f"def op(p, q):\n    return {pair}\nreturn reduce(op, {ne}, {items})"
    elif way == 1:
        body = f"return reduce(lambda p, q: [v + w for v, w in zip(p, q)], zeros(3, dtype={t}), [[x[i], y[i], {number(r, t)}] for i in range(n)])"
    elif way == 2:
        step = one_of(r, "s + v", "max(s, v)", "s + v - s * v * 0" if t == "i64" else "s + v")
        body = f"return reduce(lambda s, v: {step}, {t}({'-100' if 'max' in step else '0'}), [{e} for i in range(n)]), scan(lambda s, v: {step}, {t}({'-100' if 'max' in step else '0'}), x)"
    else:
        body = f"return hist(lambda s, v: s + v, {zero(t)}, 3, [i % 3 for i in range(n)], [{e} for i in range(n)]), hist(lambda s, v: max(s, v), {t}(-100), 2, [i % 2 for i in range(n)], x)"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", body), tuple((n, 1) for n in (r.choice((1, 2)), 3, r.choice((16, 17)), r.choice((64, 65, 257)))))


def dtypes(r: Chooser) -> Program:
    params = {name: one_of(r, "f64", "f32", "i64", "i32", "u8", "bool_") for name in ("x", "y", "z")}
    to = one_of(r, "f64", "i64")
    leaves = [f"{to}({v}[i])" for v in params]
    e = value(r, to, leaves)
    way = r.randrange(4)
    loop = span(r, "n")
    if way == 0:
        body = f"return [{e} for i in range({loop})], sum({e} for i in range(n))"
    elif way == 1:
        body = f"s = {zero(to)}\nfor i in range({loop}):\n    s = s + {e}\n    x[i] = x[n - 1 - i]\nreturn x, s"
    elif way == 2:
        body = f"return [x[i] for i in range({loop}) if {e} > 0], [{leaves[1]} + {leaves[2]} for i in range(n)]"
    else:
        body = f"c = [{e} for i in range(n)]\nreturn scan(add, {zero(to)}, c), scan(maximum, {to}(-1000), c), any(v > 3 for v in c)"
    return Program(function(", ".join(f"{k}: {v}[n]" for k, v in params.items()) + ", k: i64", body), sizes(r))


def made_anew(r: Chooser) -> Program:
    """Arrays that every round makes anew: of their own elements, of others, of sums and of each other; conditions that read them."""
    t = one_of(r, "i64", "i64", "f64")
    e = ["a[i]", "b[i]", "c[i, 0]", "s"]
    own = value(r, t, e, 1)
    ways = [
        "a = (a * 3 + 1) % 101", "b = (a + b) % 97", "a, b = (a + b) % 89, (a - b) % 83", "b, a = b % 7 + s, a % 5 + b", f"a = [({own}) % 101 for i in range(n)]", f"b = [({own}) % 97 for i in range(n)]",
        "a = [(a[(i + 1) % n] + a[i]) % 61 for i in range(n)]", "a = [a[n - 1 - i] for i in range(n)]", "a[1:] = (a[1:] + a[1:]) % 101", "a[1:-1] = (a[1:-1] + b[:-2]) % 59", "a[1:] = (a[1:] + a[:-1]) % 53", "a[::2] = a[::2] % 11 + 1",
        "s = (s + sum(a)) % 31", "s = (s + a[0]) % 29", "s = (max(a) + s) % 23", "s = (s + sum(a[i] * b[i] for i in range(n))) % 19",
        "c = [[v - max(w) for v in w] for w in c]", "c = [[(v + a[i]) % 13 for v in c[i]] for i in range(n)]", "c = [[(c[i, j] + c[i, (j + 1) % m]) % 17 for j in range(m)] for i in range(n)]", "c = [[(c[i, j] + c[(i + 1) % n, j]) % 17 for j in range(m)] for i in range(n)]",
        "c[1:-1] = (c[1:-1] + c[1:-1]) % 43", "c[:, 1:] = c[:, 1:] % 9 + s", "a = [sum(c[i]) % 37 for i in range(n)]", "b = a", "b = a\n        a = a % 47 + 1", "a[0] += 1", "if s % 2 == 0:\n            a = a % 41 + 1", "if a[0] > 5:\n            break",
        "a = [v + s if v > 3 else v for v in a]", "a = [b[i] if i % 2 == 0 else a[i] for i in range(n)]",
    ]  # fmt: skip
    chosen = "\n        ".join(r.choice(ways) for _ in range(r.choice((1, 2, 2, 3, 4))))
    cond = one_of(r, "sum(a) % 7 != 0", "a[0] < 60", "max(a) + s < 90", "sum(a[i] * b[i] for i in range(n)) % 5 != 1", "max(sum(w) for w in c) < 200", "all(v < 50 for v in a)", "changed(a, s) % 7 != 3", "changed(b, s) % 5 != 3")
    head = one_of(r, "for q in range(k % 4):", f"while s < 999 and {cond}:", "for q in range(k % 4):")
    if head.startswith("while"):
        chosen = f"u = u + 1\n        if u > k % 5:\n            break\n        {chosen}" if r.random() < 0.5 else f"u = u + 1\n        {chosen}"
        head = head.replace("s < 999", "u < k % 4")
    read = one_of(r, "a, b, c, s", "a, s", "a, b", "c, sum(a)")
    change = one_of(r, "v[0] = 5", "v[1:] = v[:-1]", "for i in range(n):\n        v[i] = v[i] * 2 + w", "v = v + w")
    local = f"def changed(v: {t}[n], w: {t}):\n    {change}\n    return sum(v)\n" if "changed" in head else ""
    body = f"{local}s = {zero(t)}\nu = 0\nif n > 0 and m > 0:\n    {head}\n        {chosen}\nreturn {read}"
    return Program(function(f"a: {t}[n], b: {t}[n], c: {t}[n, m], k: i64", body), sizes(r, n=(*FEW, 16, 17), m=FEW))
