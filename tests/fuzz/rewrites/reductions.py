"""Templates of reductions, maps, filters and checks."""

from __future__ import annotations

from .words import AROUND, TINY, Program, far, function, kind, number, one_of, sizes, span, value, zero

AN = "a: {t}[n, m], b: {t}[n, m], x: {t}[n], y: {t}[m], k: i64"
LONG = (255, 256, 257, 511, 512, 513)


def along_first_axis(r: Chooser) -> Program:
    t = kind(r)
    e = value(r, t, ["a[i, j]", "x[i]", "y[j]"])
    op = one_of(r, "sum", "sum", "max", "min")
    default = ", default=" + number(r, t) if op != "sum" else ""
    if r.random() < 0.5:
        rows = one_of(r, "n", "n", "max(n - 3, 0)", "min(n, 9)")
        made = f"{op}([[{e} for j in range(m)] for i in range({rows})], axis=0)" if op == "sum" else f"[{op}(({e} for i in range({rows})){default}) for j in range(m)]"
        if r.random() < 0.3:
            return Program(function(AN.format(t=t), f"return {made}, sum([[{value(r, t, ['a[i, j]', 'b[i, j]'])} for j in range(m)] for i in range(n)], axis=0)"), sizes(r))
        return Program(function(AN.format(t=t), f"return {made}"), sizes(r))
    where = span(r, "n")
    where2 = one_of(r, f" if {value(r, t, ['x[i]'], 0)} > {number(r, t)}", "", "")
    return Program(function(AN.format(t=t), f"return [{op}(({e} for i in range({where}){where2}){default}) for j in range({span(r, 'm')})]"), sizes(r))


def sums_of_rows(r: Chooser) -> Program:
    t = kind(r)
    read = one_of(r, "a[i, r]", "a[i, r]", "a[i, r]", "b[i, r]", f"b[max(i - {far(r)}, 0), r]", f"b[i, max(r - {far(r)}, 0)]")
    inner = one_of(r, "m", "m", span(r, "m"))
    total = f"sum({value(r, t, [read, 'y[r]'], 1)} + {read} * y[r] for r in range({inner}))"
    way = r.randrange(4)
    if way == 0:
        return Program(function(AN.format(t=t), f"return [{total} for i in range({span(r, 'n')})]"), sizes(r))
    if way == 1:
        return Program(function(AN.format(t=t), f"return [{total} * {number(r, t)} for i in range({r.choice((2, 3, 4, 5))})]"), sizes(r, n=(5, 8, 17), m=(0, 1, 16, 33))[1:])
    if way == 2:
        place = one_of(r, "0", "m - 1", "i % m", f"(i + {far(r)}) % m")
        return Program(function(AN.format(t=t), f"if m > 0:\n    for i in range({span(r, 'n')}):\n        b[i, {place}] = {total}", "return b"), sizes(r))
    return Program(function(AN.format(t=t), f"for j in range(m):\n    for i in range({span(r, 'n', 'j')}):\n        b[i, j] {one_of(r, '=', '+=')} {total}", "return b"), sizes(r, n=(*TINY, 5, 9, 17, 18), m=(*TINY, 5, 18)))


def sums_of_columns(r: Chooser) -> Program:
    t = kind(r)
    op = one_of(r, "sum", "sum", "max", "min", "prod")
    read = one_of(r, "z[j + r]", "z[j + r]", "a[r, j]", f"a[r, max(j - {far(r)}, 0)]", "a[r, m - 1 - j]", "z[m + n - 1 - j - r]", "z[j + r // 2]")
    e = value(r, t, [read, "x[r]"]) + f" + {read}" if op != "prod" else f"({read} * {read} % 2 + 1)" if t.startswith("i") else f"(1.0 + {read} * 0.125)"
    default = f", default={number(r, t)}" if op in ("min", "max") else ""
    inner = span(r, "n") if op != "prod" else "min(n, 9)"
    text = function(f"z: {t}[n + m], {AN.format(t=t)}", f"return [y[j] + {op}(({e} for r in range({inner})){default}) for j in range({span(r, 'm')})]")
    return Program(text, sizes(r, n=(*TINY, 16, 255, 256, 257, 600), m=(*TINY, 15, 16, 31, 32, 33, 63, 64, 65, 129)))


def sums_in_sums_of_columns(r: Chooser) -> Program:
    """Sums in sums, whose inner ranges may depend on the outer term, and loops down the columns beside them."""
    t = kind(r)
    many = sizes(r, n=(*TINY, 16, 255, 256, 257, 600), m=(*TINY, 15, 31, 32, 33, 64, 65))
    if r.random() < 0.5:
        read = one_of(r, "z[j + r]", "a[r, j]", "a[max(r - q, 0), j]", f"a[r, max(j - {far(r)}, 0)]", "a[r, m - 1 - j]")
        inner = one_of(r, span(r, "n"), "q, n", "min(q, n)", "n if q < 2 else 0", "n if j < 40 else 2")
        term = f"{value(r, t, [read, 'x[q]'], 1)} + {read}"
        outer = one_of(r, "{s}", "{s}", "{s} + y[j]", "x[q] * {s}", "max({s}, x[q])", "({s} if q != 1 else y[j])").format(s=f"sum({term} for r in range({inner}))")
        op = one_of(r, "sum", "sum", "max")
        default = f", default={number(r, t)}" if op == "max" else ""
        body = f"return [y[j] + {op}(({outer} for q in range(min(n, {r.choice((2, 3, 9))}))){default}) for j in range({span(r, 'm')})]"
        return Program(function(f"z: {t}[n + m], {AN.format(t=t)}", body), many)
    new = one_of(r, "a[i, j] - s * x[i]", "a[i, j] + y[j]", "b[i, j] - s", "a[max(i - 1, 0), j] + x[i]", "a[i, max(j - 1, 0)] - s", "a[i, j] - b[n - 1 - i, j]")
    second = one_of(r, "", "", f"\n        y[j] = y[j] + sum({value(r, t, ['b[q, j]', 'a[q, j]'], 1)} for q in range({span(r, 'n')}))")
    parts = ["\n        y[j] = s", f"\n        for i in range({span(r, 'n', 'j')}):\n            a[i, j] = {new}", second]
    r.shuffle(parts)
    total = f"s = sum({value(r, t, ['a[r, j]', 'x[r]'], 1)} + a[r, j] for r in range({span(r, 'n')}))"
    body = f"for t in range({r.choice((1, 2))}):\n    for j in range({span(r, 'm')}):\n        {total}{''.join(parts)}"
    return Program(function(AN.format(t=t), body, "return a, y"), many)


def histogram(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "i32")
    k = r.choice((1, 2, 5, 40))
    op = one_of(r, "add", "add", "maximum", "minimum")
    ne = zero(t) if op == "add" else f"{t}({-100 if op == 'maximum' else 100})"
    e = value(r, t, ["x[i]", "y[i]"], 1)
    kind = r.random()
    if kind < 0.25:  # several of the same rounds, at the same places or others, all of them checked
        place = one_of(r, f"(q[i] * 3) % {k}", f"minimum(q[i] + {r.choice((0, 0, 1))}, {k - 1})", f"i64(x[i] * 0.0) + q[i] % {k}")
        second = one_of(r, "at", "at", f"[i % {k} for i in range(n)]", f"[minimum(q[i], {k - 1}) for i in range(n)]")
        more = one_of(r, "", "", f", hist(add, 0, {k}, at, [i for i in range(n)])")
        body = f"at = [{place} for i in range(n)]\nreturn hist({op}, {ne}, {k}, at, [{e} for i in range(n)]), hist(add, 0, {k}, {second}, [1 for i in range(n)]){more}"
    elif kind < 0.6:
        body = f"return hist({op}, {ne}, {k}, [q[i] % {k} for i in range(n)], [{e} for i in range(n)])"
    else:
        loop = f"for i in range({span(r, 'n')}):"
        almost = one_of(r, "", "", f" + c[(q[i] + 1) % {k}]")
        body = f"c = zeros({k}, dtype={t})\n{loop}\n    c[q[i] % {k}] += {e}{almost}\nreturn c"
        if almost and t.startswith("i"):
            body = body.replace("+=", "=", 1).replace(almost, f" % 7 - c[(q[i] + 1) % {k}] % 5")
    return Program(function(f"q: i64[n], x: {t}[n], y: {t}[n], k: i64", body), sizes(r, n=(*AROUND, 32 * k - 1, 32 * k, 128 * k - 1, 128 * k, 128 * k + 1, 700)), low=0)


def tall(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "i64", "f32")
    e, g = value(r, t, ["a[i, j]", "x[i]", "y[j]"], 1), value(r, t, ["a[i, j]", "b[i, j]"], 1)
    more = one_of(r, "", f", sum([[{g} for j in range(m)] for i in range(n)], axis=0)", f", [sum({e} for i in range({span(r, 'n')})) for j in range(m)]")
    before = one_of(r, "", "c = sum(a, axis=0)\n", "c = [v + 1 for v in y]\n")
    also = ", c" if before else ""
    return Program(function(AN.format(t=t), f"{before}return sum([[{e} for j in range(m)] for i in range(n)], axis=0){more}{also}"), sizes(r, n=(0, 1, 511, 512, 513, 700), m=(0, 1, 3, 5, 8), count=4))


def pairwise(r: Chooser) -> Program:
    e = value(r, "f32", ["a[i, j]", "x[i]", "y[j]"], 1)
    rows = one_of(r, "n", "max(n - 1, 0)", "(n + 1) // 2")
    return Program(function(AN.format(t="f32"), f"return sum([[{e} for j in range(m)] for i in range({rows})], axis=0)"), sizes(r, n=(0, 1, *LONG, 1025), m=(0, 1, 3, 5), count=4))


def scan(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "f64", "i32")
    op, ne = r.choice((("add", "0"), ("maximum", "-100"), ("minimum", "100")))
    e = value(r, t, ["x[i]", "y[i]"], 1)
    size = (*TINY, 64, 2047, 2048, 2049, 4095, 4096, 4097, 8321, 8320)
    if r.random() < 0.4:
        return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"return scan({op}, {t}({ne}), [{e} for i in range(n)]{one_of(r, '', ', exclusive=True')})"), sizes(r, n=size, count=4), nan=False)
    step = {"add": "s + {e}", "maximum": "max(s, {e})", "minimum": "min(s, {e})"}[op].format(e=f"({e})")
    store = one_of(r, "z[i] = s", "z[i] = s + x[i]", "z[n - 1 - i] = s", "z[i] = s - z[max(i - 1, 0)]", "z[i] = s\n    s = s - y[i]")
    return Program(function(f"x: {t}[n], y: {t}[n], z: {t}[n], k: i64", f"s = {t}({ne})\nfor i in range({one_of(r, 'n', 'n', span(r, 'n'))}):\n    s = {step}\n    {store}\nreturn z, s"), sizes(r, n=size, count=4))


def best(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "i64", "i32", "f32")
    which = one_of(r, "argmin", "argmax")
    size = (1, 2, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 5000)
    way = r.randrange(4)
    nan = t.startswith("f") and r.random() < 0.4
    if way == 0:
        body = f"return {which}(x)"
    elif way == 1:
        body = f"return {which}([{value(r, t, ['x[i]', 'y[i]'], 1)} for i in range(n)]), {which}(x)"
    elif way == 2:
        sign = one_of(r, "<", ">", "<=", ">=")
        return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"best, at_, j = {t}({'100' if sign[0] == '<' else '-100'}), 0, 0\nfor i in range({span(r, 'n')}):\n    if x[i] {sign} best:\n        best = x[i]\n        j = i\nreturn best, j"), sizes(r, n=(0, *size), count=4))
    else:
        return Program(function(f"a: {t}[n, m], x: {t}[n], y: {t}[n], k: i64", f"return [{which}(row) for row in a], [{which}([a[i, j] for i in range(n)]) for j in range(m)]"), ((1, 1), (3, 64), (65, 5), (2, 300)), nan=nan)
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", body), tuple((max(1, a), b) for a, b in sizes(r, n=size, count=4)), nan=nan)


def question(r: Chooser) -> Program:
    t = kind(r)
    which = one_of(r, "any", "all")
    test = f"{value(r, t, ['x[i]', 'y[i]'], 1)} {one_of(r, '<', '>', '==', '!=')} {r.choice((8, 0, -9, 9))}"
    body = f"return {which}({test} for i in range({one_of(r, 'n', span(r, 'n'))}){one_of(r, '', ' if y[i] > 3')})"
    if r.random() < 0.3:
        body = f"return [{which}(x[i] + x[j] > 17 for i in range({span(r, 'n', 'j')})) for j in range(n)]"
        return Program(function(f"x: {t}[n], y: {t}[n], k: i64", body), sizes(r))
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", body), sizes(r, n=(*TINY, 64, 1023, 1024, 1025, 2049), count=5))


def kept(r: Chooser) -> Program:
    t = kind(r)
    e = value(r, t, ["x[i]", "y[i]"], r.choice((0, 1, 2)))
    test = f"{value(r, t, ['x[i]', 'y[i]'], 1)} {one_of(r, '<', '>', '!=')} {number(r, t)}"
    where = one_of(r, "n", "n", "n", span(r, "n"))
    more = one_of(r, "", "", f", [x[i] for i in range(n) if {test}]", ", sum(x)")
    local = ""
    if r.random() < 0.3:  # elements that loops make, which exist where they are kept only
        step = one_of(r, "s = s + y[q % n]", "s = max(s, v) + 1", "if y[q % n] > s:\n            s = v")
        local = f"def g(v):\n    s = v\n    for q in range({one_of(r, 'k % 4', 'n // 2', '3')}):\n        {step}\n    return s\n"
        e = one_of(r, "g(x[i])", f"g(x[i]) + {number(r, t)}", "g(y[i]) * x[i]")
    kept_ = f"[{e} for i in range({where}) if {test}]"
    body = local + one_of(r, f"return {kept_}{more}", f"c = {kept_}\nreturn sum(c), len(c)", f"c = {kept_}\nreturn [v + 1 for v in c], len(c)")
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", body), sizes(r, n=(*TINY, 64, 2047, 2048, 2049, 4097), count=4))


def kept_inside(r: Chooser) -> Program:
    t = kind(r)
    e = value(r, t, ["a[i, j]", "y[j]"], r.choice((0, 1)))
    test = f"a[i, j] {one_of(r, '<', '>', '!=')} {one_of(r, 'x[i]', number(r, t))}"
    where = one_of(r, "m", "m", span(r, "m", "i"))
    body = one_of(r, f"def g(i):\n    c = [{e} for j in range({where}) if {test}]\n    return sum(c) + len(c)\nreturn [g(i) for i in range(n)]", f"def g(i):\n    c = [{e} for j in range({where}) if {test}]\n    return sum(c[q] * q for q in range(len(c)))\nreturn [g(i) for i in range(n)]")
    return Program(function(AN.format(t=t), body), sizes(r))


def sorted_values(r: Chooser) -> Program:
    t = kind(r)
    made = one_of(r, "x", f"[{value(r, t, ['x[i]', 'y[i]'], 1)} for i in range(n)]", "[x[i] for i in range(n) if y[i] > 0]")
    if r.random() < 0.3:
        key = one_of(r, "-v", "abs(v)", "v * v - v", "max(v, 1)", "0 * v")
        body = one_of(r, f"d = sorted(c, key=lambda v: {key})\nreturn d, len(d)", f"return sorted(c, key=lambda v: {key}, reverse=True)", "return sorted(c, reverse=True), sort(c)", f"d = [{key} for v in c]\no = argsort(d)\nreturn [c[q] for q in o], [d[q] for q in o]", f"return [v for v in sorted(c, key=lambda v: {key}) if v > 0]")
        return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"c = {made}\n{body}"), sizes(r, n=(*TINY, 16, 17, 64, 65, 255, 256, 257, 2048, 2049)), low=r.choice((-9, -2)), high=r.choice((9, 2)), nan=False)
    body = one_of(r, "o = argsort(c)\nreturn [c[q] for q in o]", "o = argsort(c)\nreturn [c[q] for q in o], o", "return sort(c)", "o = argsort(c)\nreturn [c[o[len(c) - 1 - i]] for i in range(len(c))]", "o = argsort(c)\nreturn [x[q] for q in o]", "d = sort(c)\nreturn d, sum(d), argsort(c)")
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"c = {made}\n{body}"), sizes(r, n=(*TINY, 16, 64, 65, 257)))


def tests_of_indices(r: Chooser) -> Program:
    t = kind(r)
    d, g = far(r), far(r, 4)

    def test(i: str, size: str) -> str:
        return one_of(r, f"{i} >= {d}", f"{i} < {size} - {d}", f"{i} + {g} < {size} and {i} >= {g}", f"{i} < k", f"{i} > k % 7", f"{i} != {d}", f"{i} % 2 == 0", f"{i} + k >= 3", f"{i} == {one_of(r, '0', d, f'{size} - 1')}")

    if r.random() < 0.3:  # a chain of cases of two indices, the last of which is the rule
        ends = lambda: one_of(r, f"{test('i', 'n')} and {test('j', 'm')}", f"{test('i', 'n')} or {test('j', 'm')}", test("i", "n"), test("j", "m"))
        chain = f"(a[max(i - {d}, 0), j] - b[i, min(j + {d}, m - 1)])"
        for _ in range(r.randint(2, 5)):
            chain = f"({value(r, t, ['a[i, j]', 'x[i]', 'y[j]'], 1)} if {ends()} else {chain})"
        return Program(function(AN.format(t=t), f"return [[{chain} for j in range({span(r, 'm')})] for i in range({span(r, 'n')})]"), sizes(r))
    if r.random() < 0.5:
        e = f"(a[i, max(j - {d}, 0)] if {test('j', 'm')} else {value(r, t, ['y[j]', 'x[i]'], 1)})"
        e = one_of(r, e, f"({e} if {test('i', 'n')} else b[i, j])", f"(a[i, j - {d}] if j >= {d} else a[i, j]) + (b[i - {g}, j] if i >= {g} else {number(r, t)})")
        return Program(function(AN.format(t=t), f"return [[{e} for j in range({span(r, 'm')})] for i in range({span(r, 'n')})]"), sizes(r))
    inner = f"sum(({value(r, t, ['x[i]', 'x[q]'], 1)} if {test('q', 'n')} else 0) for q in range({span(r, 'n', 'i')}))"
    inner = one_of(r, inner, f"sum(x[q] for q in range(n) if q >= i - {d} and q <= i + {g})", f"sum(x[i + q - {d}] for q in range({2 * d}) if i + q >= {d} and i + q - {d} < n)")
    return Program(function(f"x: {t}[n], y: {t}[m], k: i64", f"return [{inner} for i in range({span(r, 'n')})]"), sizes(r))


def round_and_round(r: Chooser) -> Program:
    t = kind(r)
    d = far(r)

    def index(i: str, size: str) -> str:
        return one_of(r, f"({i} + k) % {size}", f"({i} + {d}) % {size}", f"(k - {i}) % {size}", f"max({i} - {d}, 0)", f"min({i} + {d}, {size} - 1)", f"({i} + {size} - 1) % {size}", f"(2 * {i}) % {size}", f"{i} // {d}", f"min(max({i} - k, 0), {size} - 1)")

    where = one_of(r, "n", span(r, "n"))
    e = f"x[{index('i', 'n')}] + {value(r, t, ['x[i]', f'x[{index(chr(105), chr(110))}]'], 1)}"
    if r.random() < 0.5:
        return Program(function(f"x: {t}[n], y: {t}[m], k: i64", f"return [{e} for i in range({where})]"), sizes(r))
    return Program(function(AN.format(t=t), f"return [[a[{index('i', 'n')}, {index('j', 'm')}] + a[i, {index('j', 'm')}] for j in range({span(r, 'm')})] for i in range({where})]"), sizes(r))


def sums_in_parts(r: Chooser) -> Program:
    """Several sums and an array of one range, whose terms go round, stop at an edge, or are under tests of both indices."""
    t = kind(r)
    d = far(r, 4)
    at = one_of(r, f"a[i, (j + {d}) % m]", f"a[i, (j - {d}) % m]", f"a[(i + {d}) % n, j]", f"a[i, max(j - {d}, 0)]", f"a[i, min(j + {d}, m - 1)]", "a[i, (j + k) % m]", "a[i, j // 2]")
    row = one_of(r, f"0 < i < n - {d}", f"i >= {d}", "i != 1", "i < k")
    column = one_of(r, f"j >= {d}", f"j < m - {d}", f"0 < j < m - {d}", "j != 1", "j < k")
    one = f"sum(({value(r, t, [at, 'y[j]'], 1)} if {row} else {number(r, t)}) for j in range(m))"
    op = one_of(r, "sum", "sum", "max", "min")
    two = f"{op}((({at} * b[i, j] if {column} else a[i, j]) for j in range({one_of(r, 'm', 'm', span(r, 'm'))})){'' if op == 'sum' else f', default={number(r, t)}'})"
    if r.random() < 0.5:
        return Program(function(AN.format(t=t), f"return [{one} + {two} for i in range({span(r, 'n')})]"), sizes(r))
    rows = f"[[({at} - b[i, j] if {row} and {column} else b[i, j]) for j in range(m)] for i in range(n)]"
    return Program(function(AN.format(t=t), f"c = {rows}\nreturn sum({one} for i in range(n)), [{two} for i in range(n)], c, sum(c[i, j] * {at} for i in range(n) for j in range(m) if {row})"), sizes(r))


def sums_without_terms(r: Chooser) -> Program:
    """A sum that only some elements of a table have; the others read another, or what it is without terms."""
    t = kind(r)
    d = far(r, 4)
    test = one_of(r, "j <= i", "j < i", "j > i", f"j >= i - {d}", f"i + j < {d}", f"j >= {d}", f"j < n - {d}", "j < k", "i != j", "j == i", f"{d} <= j < n - 1")
    op = one_of(r, "sum", "sum", "max", "min")
    rest = "" if op == "sum" else f", default={number(r, t)}"
    long = one_of(r, "m", "m", span(r, "m"))
    term = one_of(r, "a[i, q] * x[j] + b[i, q] * x[i]", "a[i, q] * b[j, q] + a[j, q]", f"a[i, q] - {value(r, t, ['x[j]', 'y[q]'], 1)}")
    whole = f"({op}(({term} for q in range({long})){rest}) if {test} else {one_of(r, 'x[j]', 'x[i]', number(r, t))})"
    inside = f"{op}(({term} for q in range({long}) if {test}){rest})"
    e = one_of(r, whole, whole, inside, f"{inside} * x[i] + {whole}")
    return Program(function(AN.format(t=t), f"return [[{e} for j in range(n)] for i in range({span(r, 'n')})]"), sizes(r))


def under_one_condition(r: Chooser) -> Program:
    """Values that several branches on the same condition compute for themselves, with writes in between that they may or may not see."""
    t = kind(r)
    test, same = one_of(r, "x[i] > 0", "0 < i < n - 1", "i % 2 == 0", "k > 2"), value(r, t, ["x[i]", "y[i]"], 1)
    parts = [f"(x[max(i - 1, 0)] + {same} if {test} else {number(r, t)})", f"({same} * x[min(i + 1, n - 1)] if {test} else {number(r, t)})", f"({same} if {test} else y[i])"]
    r.shuffle(parts)
    if r.random() < 0.5:
        sums = ", ".join(f"sum({e} for i in range({one_of(r, 'n', 'n', span(r, 'n'))}))" for e in parts)
        return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"return {sums}, [{parts[0]} for i in range(n)]"), sizes(r))
    between = one_of(r, "y[i] = v", "x[i] = v", "y[max(i - 1, 0)] += v", "s = s + v", "x[min(i + 1, n - 1)] = v")
    body = f"s = {zero(t)}\nfor i in range(n):\n    v = {parts[0]}\n    {between}\n    w = {parts[1]}\n    s = s * {t}({'0.5' if t.startswith('f') else '1'}) + w\n    {one_of(r, 'y[i] = w', 'y[i] += v', 's = s + v')}\n    if {test}:\n        s = s + {same}"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", body, "return s, x, y"), sizes(r))


def same_every_round(r: Chooser) -> Program:
    """Arrays made before a loop that its rounds read alike, in part, or at places of their own; the loop may be under a condition, and what they are made of may change in it."""
    t = kind(r)
    e = value(r, t, ["x[i]", "y[i]"], 2) + one_of(r, " + x[max(i - 1, 0)] * y[i]", "", f" + {number(r, t)}")
    read = one_of(r, "b[i]", "b[i]", "b[n - 1 - i]", "b[(i + 1) % n]", "b[0]", "b[q % n]", "b[min(i + q, n - 1)]")
    more = one_of(r, "", "", "        x[q % n] = p[0]\n", "        y = [v for v in p]\n", "        for c in range(2):\n            p[c % n] += b[n - 1]\n")
    scale = " * 0.25" if t.startswith("f") else " % 17"
    loop = f"for q in range({one_of(r, 'k % 4', '3', 'k % 2')}):\n        p = [(p[i] + {read}){scale} for i in range(n)]\n{more}"
    around = one_of(r, "if True:", "if k > 2:", "if x[0] > 0:", "for o in range(2):")
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"b = [{e} for i in range(n)]\np = [v for v in x]\nif n > 0:\n    {around}\n        " + loop.replace("\n", "\n    "), "return p, x, y"), sizes(r))


def early(r: Chooser) -> Program:
    t = kind(r)
    w = one_of(r, "q[i]", "q[i]", f"q[max(i - {far(r)}, 0)]", "abs(q[i])")
    if r.random() < 0.5:
        return Program(function(f"q: i64[n], y: {t}[m], k: i64", f"for i in range({span(r, 'n')}):\n    w = {w}\n    y = [max(y[j], y[j - w] + {number(r, t)}) if j >= w and j - w < m else y[j] for j in range(m)]", "return y"), sizes(r))
    return Program(function(f"q: i64[n], y: {t}[m], k: i64", f"return [[y[j - {w}] if j >= {w} and j - {w} < m else {number(r, t)} for j in range({span(r, 'm')})] for i in range({span(r, 'n')})]"), sizes(r))


def checked(r: Chooser) -> Program:
    t = kind(r)
    e = one_of(r, "x[p[i]]", f"x[p[i]] + x[(i + {far(r)}) % n]", "x[p[p[i]]]", "x[p[i]] * x[n - 1 - i]")
    where = one_of(r, "n", span(r, "n"))
    body = one_of(r, f"return [{e} for i in range({where})]", f"return sum({e} for i in range({where}))", f"for i in range({where}):\n    x[p[i]] = {e} {one_of(r, '+', '-')} 1\nreturn x", f"for i in range({where}):\n    if i + k < n and i + k >= 0:\n        x[i + k] = x[p[i]]\nreturn x", f"return [{e} if x[i] > 0 else x[i] for i in range({where})]")
    return Program(function(f"x: {t}[n], p: i64[n], k: i64", body), sizes(r))


def checked_twice(r: Chooser) -> Program:
    t = kind(r)
    d = r.choice((0, 1, 3))
    body = one_of(r, f"x[p[i]] = x[p[i]] + {number(r, t)}", f"x[p[i]] = x[p[i]] + x[p[i]] * {number(r, t)}", f"x[p[(i + {d}) % n]], x[p[i]] = x[p[i]], x[p[(i + {d}) % n]]", "s = s + x[p[i]]\n    x[p[i]] = s", "x[p[i]] = x[p[i]] - 1\n    p[i] = (p[i] + 1) % n\n    x[p[i]] = x[p[i]] + 1")
    return Program(function(f"x: {t}[n], p: i64[n], k: i64", f"s = {zero(t)}\nfor i in range({span(r, 'n')}):\n    {body}", "return x, p, s"), sizes(r))


def checked_for_another(r: Chooser) -> Program:
    t = kind(r)
    body = one_of(r, "c = [x[v] for v in p]\nreturn [c[i] + x[i] for i in range(n)]", "return sum(x[v] for v in p), [x[v] * 2 for v in p]", "c = x[p]\nd = c[p]\nreturn c, d", f"c = [x[p[i]] for i in range({span(r, 'n')})]\nreturn sum(c), c", "return hist(add, 0, n, p, p), [x[v] for v in p]")
    return Program(function(f"x: {t}[n], p: i64[n], k: i64", body), sizes(r))


def made_and_read(r: Chooser) -> Program:
    if r.random() < max(0.3, r.plain - 0.1):
        c, d = r.randrange(2, 9), r.randrange(3)
        body = f"def g(i):\n    a = (i + 1) * {c}77 + k\n    b = (a ^ (a >> 3)) * 31 + a % {c}\n    c = (b ^ (b >> 5)) % 1009\n    return (c * c + b) % {c}3\n"
        last = one_of(r, f"sum(1 if g(2 * i) + g(2 * i + 1) <= {c}9 else 0 for i in range(n))", f"sum(g(i) * g(i + {d}) for i in range(n))", f"[g(i) + g(i + {d}) * 2 for i in range(n)]", f"max((g(i) - g(n - i) for i in range({span(r, 'n')})), default=0)")
        return Program(function("x: i64[n], k: i64", f"{body}return {last}"), sizes(r))
    t = kind(r)
    e = value(r, t, ["a[i, j]", "x[i]", "y[j]"])
    d = far(r)
    last = one_of(r, "[[c[i, j] + y[j] for j in range(m)] for i in range(n)]", f"[[c[i, max(j - {d}, 0)] - c[i, j] for j in range(m)] for i in range(n)]", "[sum(c[i, j] for j in range(m)) for i in range(n)], c", f"[[c[max(i - {d}, 0), j] for j in range(m)] for i in range(n)]", "[[c[i, j] for i in range(n)] for j in range(m)]", "[sum(row) for row in c], sum(c, axis=0)")
    before = one_of(r, "", f"for i in range({span(r, 'n')}):\n    a[i] = [v + {number(r, t)} for v in a[i]]\n")
    return Program(function(AN.format(t=t), f"{before}c = [[{e} for j in range(m)] for i in range(n)]\nreturn {last}"), sizes(r))


def crossing(r: Chooser) -> Program:
    t = kind(r)
    e = value(r, t, ["a[j, i]", one_of(r, "b[i, j]", "b[j, i]", "a[j, i]"), one_of(r, "x[j]", "x[i]", "x[i]")], 1)
    where = one_of(r, "n", span(r, "n"))
    body = f"return [[{e} for j in range({where})] for i in range({one_of(r, 'n', span(r, 'n'))})]"
    if r.random() < 0.3:
        body = f"for i in range({where}):\n    for j in range({span(r, 'n', 'i')}):\n        {one_of(r, 'b', 'a')}[i, j] = {e}\nreturn a, b"
    return Program(function(f"a: {t}[n, n], b: {t}[n, n], x: {t}[n], k: i64", body), sizes(r, n=(*TINY, 7, 8, 9, 15, 63, 64, 65, 66, 130), count=4), patch={"profit.MANY_ROWS": 16})


def stencil(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "i64", "f32")
    h = r.choice((1, 2, 3))
    reads = [f"a[i + {d}, j]" for d in range(h + 1)] + [f"a[i + {r.randrange(h + 1)}, j + {r.randrange(2)}]"]
    e = " + ".join(f"{x} * {number(r, t)}" for x in reads) + one_of(r, "", f" + b[i, j] * {number(r, t)}", " + x[i]")
    long = {"profit.OVERLAP_ROW": r.choice((1, 16, 64))}
    params = f"a: {t}[n + 3, m + 1], b: {t}[n + 3, m + 1], x: {t}[n], k: i64"
    if r.random() < 0.5:
        return Program(function(params, f"return [[{e} for j in range(m)] for i in range({one_of(r, 'n', 'n // 2', f'n + {3 - h}')})]" if "x[i]" not in e else f"return [[{e} for j in range(m)] for i in range(n)]"), sizes(r), patch=long)
    target = one_of(r, "b[i, j]", "b[i, j]", "a[i, j]", f"a[i + {h}, j]", "b[i + 1, j]")
    return Program(function(params, f"for i in range({one_of(r, 'n', span(r, 'n'))}):\n    for j in range({one_of(r, 'm', span(r, 'm', 'i'))}):\n        {target} = {e}", "return a, b"), sizes(r), patch=long)


def two_products(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "f32", "i64")
    op = one_of(r, "+", "-", "+", "*")
    first = one_of(r, "a[i, p] * w[p, j]", "w[p, j] * a[i, p]", "b[i, p] * w[j, p]", "a[i, p] * y2[p]")
    second = one_of(r, "b[i, p] * w[j, p]", "b[i, p] * a[i, p]", "w[j, p] * b[i, p]", "b[(i + 1) % n, p] * w[p, j]", "a[i, p] * w[p, j] * k", "a[i, p]")
    total = f"sum({first} {op} {second} for p in range({one_of(r, 'm', 'm', 'm // 2', 'min(i + 1, m)')}))"
    e = one_of(r, total, f"({total} if j <= i else b[i, j])", f"b[i, j] + {number(r, t)} * {total}", f"({total} if k > 0 else {zero(t)})", f"{total} * {total}")
    return Program(function(f"a: {t}[n, m], b: {t}[n, m], w: {t}[m, m], y2: {t}[m], k: i64", f"return [[{e} for j in range(m)] for i in range(n)]"), sizes(r, n=(*TINY, 12, 13, 48, 49, 65), m=(*TINY, 8, 16, 17, 33)))


def product_and_more(r: Chooser) -> Program:
    t = one_of(r, "f64", "f64", "f32", "i64")
    after = one_of(r, "[[{c} + y2[j] for j in range(m)] for i in range(n)]", "[[max({c}, 0) for j in range(m)] for i in range(n)]", "[sum(c[i, j] * c[i, j] for j in range(m)) for i in range(n)]", "c, [[{c} * 2 for j in range(m)] for i in range(n)]", "[[{c} + c[(i + 1) % n, j] for j in range(m)] for i in range(n)]", "[[c[i, m - 1 - j] for j in range(m)] for i in range(n)]", "[[c[n - 1 - i, j] for j in range(m)] for i in range(n)]")
    return Program(function(f"a: {t}[n, m], w: {t}[m, m], y2: {t}[m], k: i64", f"c = a @ w\nreturn {after.replace('{c}', 'c[i, j]')}"), sizes(r, n=(*TINY, 12, 13, 48, 49, 65), m=(*TINY, 8, 16, 17, 33)))


def streamed(r: Chooser) -> Program:
    t = one_of(r, "f64", "i64", "f32")
    e = value(r, t, ["x[i]", "y[i]"], 1)
    body = one_of(r, f"return [{e} for i in range({one_of(r, 'n', span(r, 'n'))})]", f"c = [{e} for i in range(n)]\nreturn c, [v * 2 for v in c]", f"return [{e} for i in range(n)], [{value(r, t, ['x[i]', 'y[i]'], 1)} for i in range(n)]")
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", body), sizes(r, n=(*TINY, 255, 256, 257, 511, 512, 513, 1030), count=4), patch={"profit.STREAM_LEAST": 256})


def checked_outside(r: Chooser) -> Program:
    """Checks that look at nothing of the loops around them, which may have no round that comes to them: an empty range, a branch, a `break` before."""
    t = kind(r)
    place = one_of(r, "a[i, 2]", "a[1, j]", "x[3]", "a[2, 1]", "x[k]", "y[m - 3]", "a[i, m - 3]", "x[k % 5]", "a[n - 2, k % 3]", "y[n]")
    e = one_of(r, f"{place} + x[i]", f"{place} * y[j]", f"({place} if x[i] > 0 else y[j])", f"{place} - {r.choice(('x[2]', 'y[1]', 'a[i, 1]', 'a[3, j]'))}")
    guard = one_of(r, "", "", "if x[i] > 0:\n    ", "if j > 1:\n    ", "if i > j:\n    ", "if k > 2:\n    ", "if x[i] > y[j]:\n    break\n", "if j == 2:\n    continue\n")
    step = one_of(r, f"s = s + {e}", f"a[i, j] = {e}", f"x[i] = {e}", f"z[j] = {e}\ns = s + z[0]", f"s = {e}")
    rows, columns = span(r, "n"), span(r, "m", "i")
    inside = (guard + step).replace("\n", "\n        ")
    loops = f"for i in range({rows}):\n    for j in range({columns}):\n        {inside}"
    if r.random() < 0.3:
        loops = f"for q in range({one_of(r, 'k % 3', '2', 'n - 2', '0')}):\n    " + loops.replace("\n", "\n    ")
    body = one_of(r, f"s = {zero(t)}\nz = y\n{loops}\nreturn s, a, x, z", f"return [[{e} for j in range({columns})] for i in range({rows})]", f"return sum(sum({e} for j in range({columns})) for i in range({rows}))", f"return [{e.replace('j', '0')} for i in range({rows})], [max([{e}, y[0]]) for i in range({rows}) for j in range(2)]")
    return Program(function(f"a: {t}[n, m], x: {t}[n], y: {t}[m], k: i64", body), sizes(r, n=(*TINY, 4, 5, 8, 9, 17), m=(*TINY, 4, 5, 8, 17)))
