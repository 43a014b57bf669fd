"""Templates for rewrites that save work: values of a loop computed before it, sums that share a pass, ranges cut where indices go round or tests change, equal values under one name.
Each breaks one of the things that make them right, now and then: what seems to stay is written, ranges have no rounds or fewer than none, a divisor is negative, a check comes too late."""

from __future__ import annotations

from .words import AROUND, TINY, Chooser, Program, far, function, kind, number, one_of, sizes, span, value, zero

BESIDE = (*TINY, *AROUND, 255, 256, 257)


def two_turns(r: Chooser) -> Program:
    """Indices and numbers that go round at two sizes, one of which is the range and the other may be negative, 0, or larger than it."""
    t = kind(r)
    d = far(r, 4)
    other = one_of(r, "(n - 3)", "(n - 3)", "(m - n)", "n", "(n + 1)", "(m - 1)", "(n // 2)", "(2 * n - 5)")
    op = one_of(r, "%", "%", "//")
    step = one_of(r, f"j + {d}", f"{d} - j", "j + i", "i - j", "j + k", "k - j", "2 * j")
    v = f"(({step}) {op} {other})"
    inside = one_of(r, f"a[i, (j + {d}) % m]", f"a[i, ({d} - j) % m]", "a[i, (j + k) % m]", f"a[i, max(j - {d}, 0)]", f"a[i, min(j + {d}, m - 1)]", "a[i, j]")
    e = one_of(r, f"{inside} * {t}({v} * {v} + 1)", f"{inside} + {t}({v} * 2 + {v} % 3)", f"({inside} if {v} > {v} * {v} - 3 else y[j])", f"{inside} + y[({v} + {v} * {v}) % m]", f"{inside} * x[{v} % n] + {t}({v})")
    over = one_of(r, "m", "m", span(r, "m", "i"))
    guard = one_of(r, "", "if n != 3 and m != n and m > 1 and n > 1:\n    ")
    body = r.choice((
        f"z = [[{e} for j in range(m)] for i in range(n)]", f"z = [sum({e} for j in range({over})) for i in range(n)]", f"z = [max([{e} for j in range({over})], default={number(r, t)}) for i in range(n)]",
        f"for i in range(n):\n        for j in range({over}):\n            z[i] += {e}", f"z = [sum({e} for j in range(m)) + {number(r, t)} * sum({inside} * y[j] for j in range(m)) for i in range(n)]",
    ))
    if not guard:
        body = body.replace("\n    ", "\n")
    if body.startswith("z = [["):
        return Program(function(f"a: {t}[n, m], x: {t}[n], y: {t}[m], k: i64", f"z = a\n{guard}{body}\nreturn z"), sizes(r, n=(*TINY, 4, 5, 7, 8, 9, 17), m=(*TINY, 4, 5, 8, 17)))
    return Program(function(f"a: {t}[n, m], x: {t}[n], y: {t}[m], k: i64", f"z = [{zero(t)} for i in range(n)]\n{guard}{body}\nreturn z"), sizes(r, n=(*TINY, 4, 5, 7, 8, 9, 17), m=(*TINY, 4, 5, 8, 17)))


def in_strips(r: Chooser) -> Program:
    """A flat index taken apart by numbers that may be 0, negative, far larger than the range, or other ones in every round: parts of parts, sums and checks in the rounds,
    tests on the parts, places far from the first one."""
    t = kind(r)
    d = far(r, 4)
    one, two = one_of(r, "k", "k", "(k * q)", "(n // 2)", "m", "(m - 2)", "(k + 1)", "(i % 3 + 1)", "(k * 2**40)"), one_of(r, "q", "q", "k", "(q - k)", "(m // 2)", "(q * q)", "(2**33 + q)", "(i + 1)")
    i = one_of(r, "i", "i", f"(i + {d})", f"(i - {d})", "(i + k)", f"({d} - i)", "(i + 2**33)", "(i + n)")
    parts = f"a, b = {i} // {one}, {i} % {one}\nc, e = {one_of(r, 'b', 'b', 'a', i)} // {two}, {one_of(r, 'b', 'b', 'a', i)} % {two}"
    flat = one_of(r, f"a * {one} + e * {two} + c", f"a * {one} + e", f"c * {two} + e", f"(a + c) * {two} + e", "c + e", "a", "b", "e - c")
    place = one_of(r, f"x[({flat}) % n]", f"x[{flat}]", f"x[min(max({flat}, 0), n - 1)]", f"x[{flat} - {d}]")
    term = one_of(r, f"x[({flat} + j) % n] * y[j]", f"x[{flat} + j] * y[j]", f"x[(j * (a + c)) % n] * x[({flat} + j) % n]", f"(x[({flat}) % n] * y[j] if j >= e else y[j])")
    some = one_of(r, "m", "m", "q", span(r, "m"))
    if r.random() < 0.4:  # beside what steps with the strips a number that is data, made in the round
        parts += f"\nv = p[{i} % n] {one_of(r, '+ 1', f'- {d}', f'+ {flat}', '* 2 + c')}\nu = v {one_of(r, '+ 1', '* 2 - a', f'+ {i}')}"
        place = one_of(r, "x[u % n]", "x[(u + e) % n]", "x[v % n]", f"({place} + {t}(u))")
        term = one_of(r, term, f"x[({flat} + j + v) % n] * y[j]", "(y[j] if u + j > n else x[i % n])")
    e = one_of(r, f"sum({term} for j in range({some}))", place, f"sum({term} for j in range({some})) + {place}", f"({place} if e >= {d} and a < 2 else {number(r, t)})", f"{place} * {t}(c + 2 * e) - {t}(a)", f"({place} if e != 0 else x[i % n] * 2)")
    over = one_of(r, "n", "n", "n * 2", span(r, "n"))
    body = r.choice((
        f"def element(i):\n    {{}}\n    return {e}\nz = [element(i) for i in range({over})]", f"z = [{zero(t)} for i in range(n)]\nfor i in range({one_of(r, 'n', span(r, 'n'))}):\n    {{}}\n    z[i] += {e}",
        f"z = x\nfor s in range(q % 3):\n    def element(i):\n        {{}}\n        return {e}\n    x = [element(i) for i in range(n)]\nz = x",
    ))
    inside = body.split("{}")[0].rsplit("\n", 1)[1]
    return Program(function(f"x: {t}[n], y: {t}[m], p: i64[n], k: i64, q: i64", body.replace("{}", parts.replace("\n", "\n" + inside)) + "\nreturn z"), sizes(r, n=(*TINY, 4, 6, 12, 24, 35), m=(*TINY, 4, 5)))


def no_size(r: Chooser) -> Program:
    """Places that exist only where a size is not 0 (x % m, argmax), read and written in ranges that have rounds where it is 0, beside loops that were there before the check."""
    t = kind(r)

    def place(i: str, size: str, array: str) -> str:
        return one_of(r, f"({i} + k) % {size}", f"(k - {i}) % {size}", f"k % {size}", f"argmax({array})", f"argmin({array})", f"({i} * k + 1) % len({array})")

    def rounds(size: str) -> str:
        return one_of(r, f"{size}, 2", f"{size}, 2", f"{size}, 3 - {size}", f"2 - {size}", "3", f"1 - {size}", "n")

    p, q = place("i", "m", "y"), place("i", "m", "y")
    before = one_of(r, "", "u = [x[i] * 2 for i in range(n)]\n", "u = [x[(i + k) % n] for i in range(n)]\n", "s = sum(x)\n", f"u = [x[i] * {t}(i) for i in range(n)]\ns = max(u, default={number(r, t)})\n")
    body = r.choice((
        f"z = [y[{p}] + x[i] for i in range(n)]", f"z = [x[i] * y[{p}] - y[{q}] for i in range(n)]", f"z = [[a[(k - i) % n, {place('j', 'm', 'y')}] + a[i, {place('j', 'm', 'y')}] for j in range({rounds('m')})] for i in range(n)]",
        f"z = [sum(y[{place('j', 'm', 'y')}] * x[i] for j in range({rounds('m')})) for i in range(n)]", f"z = sum(y[{place('j', 'm', 'y')}] for j in range({rounds('m')}))", f"for i in range(n):\n    y[{p}] += x[i]\nz = x",
        f"for i in range({rounds('m')}):\n    y[{p}] = y[{q}] + {number(r, t)}\nz = x", f"w = [{p} for i in range(n)]\nz = [y[w[i]] + x[i] for i in range(n)]", f"z = x\nfor i in range(n):\n    z[i] = y[{p}] * 2 + x[i]", f"z = [(y[{p}] if x[i] > 0 else x[i]) for i in range(n)]",
    ))
    given = ", ".join(name for name in ("u", "s") if f"{name} = " in before)
    return Program(function(f"a: {t}[n, m], x: {t}[n], y: {t}[m], k: i64", f"{before}{body}\nreturn {given + ', ' if given else ''}y, z"), ((5, 0), (1, 0), (0, 0), (3, 1), (4, 2), (r.choice((2, 9, 17)), 0), (r.choice(TINY), r.choice(TINY))))


def checked_data(r: Chooser) -> Program:
    """Values that are checked themselves (floats as whole numbers, divisors, places) at places that are checked before them, in ranges that may leave the array at either end."""
    t = one_of(r, "f64", "f64", "f32", "i64")

    def place() -> str:
        return one_of(r, "i", "i", f"i + {far(r, 3)}", f"i - {far(r, 3)}", "n - 1 - i", "2 * i", "i // 2", "i + k", "i * k", "m - i", "i + n", "i + m - n")

    def data() -> str:
        a, p = r.choice("xyz"), place()
        return one_of(r, f"i64({a}[{p}])", f"i64({a}[{p}] * 3)", f"100 // i64({a}[{p}])", f"w[i64({a}[{p}])]", f"i64(w[i64({a}[{p}])])", f"u8({a}[{p}])", f"w[{p}] % i64({a}[{p}])", f"(w[{p}] if i64({a}[{p}]) > 0 else 1)", f"abs({a}[{p}])")

    over = one_of(r, "n", "n, 2", "n, m", "m, n", "m", "2", "n, 2 * n", "n - m, n", "k % 4, n", "-1, n", "n + 1", span(r, "n"))
    e, test = data(), f"{data()} {one_of(r, '>', '!=', '<')} {r.choice((0, 1, 2))}"
    body = r.choice((
        f"return [x[{place()}] for i in range({over}) if {test}]", f"return [{e} for i in range({over})]", f"return sum({e} for i in range({over}))", f"return sum({e} for i in range({over}) if {test})", f"return [({e}) + {data()} for i in range({over})]",
        f"s = 0\nfor i in range({over}):\n    if {test}:\n        s = s + {place()}\n    w[i % max(n, 1)] = s\nreturn s, w", f"c = [{e} for i in range({over})]\nreturn [v for v in c if v > 1], len(c)", f"return [[{e} + j for j in range(m)] for i in range({over})]", f"for i in range({over}):\n    x[{place()}] = {t}({e})\nreturn x",
        f"return [{e} for i in range({over}) if {test}], sum(x)", f"return any([{test} for i in range({over})])", f"return max([{e} for i in range({over})], default=0)",
    ))
    if "w[i % max" in body:
        body = f"if n > 0:\n    w[0] = 1\n{body}" if r.random() < 0.3 else body
    return Program(function(f"x: {t}[n], y: {t}[n], z: {t}[m], w: i64[n], k: i64", body), (*sizes(r, n=(*TINY, *AROUND[:6]), m=(*TINY, 4, 5)), (1, 2), (2, 1)), low=r.choice((0, 0, -2)), high=r.choice((2, 4, 12)), nan=r.random() < 0.2)


def seems_to_stay(r: Chooser) -> Program:
    """An array or a number made before loops that read it in every round: made of what the loop writes, under a condition, failing where no round would ask, read in part, in a loop within."""
    t = kind(r)
    d = far(r, 3)
    e = one_of(r, "x[i] * y[i] + x[i] * x[i] - y[i]", f"x[max(i - {d}, 0)] * y[i] + x[i]", f"(x[i - {d}] * y[i] - x[i] if i >= {d} else y[i])", f"x[(i + {d}) % n] * y[i] + 2 * x[i]", "(x[i] * y[i] + x[i] if x[i] > 0 else y[i] * y[i])", f"{value(r, t, ['x[i]', 'y[i]'], 2)} + x[i] * y[i]", "x[n - 1 - i] * y[i] + x[i] * 2")
    if not t.startswith("f"):
        e = one_of(r, e, e, f"({e}) % 7 + 40 // (x[i] * x[i] + 1)", "40 // (x[i] + 3) + x[i] * y[i]")
    made = one_of(r, f"b = [{e} for i in range(n)]", f"b = [{e} for i in range({span(r, 'n')})]", f"b = x * y + x\nif k > 2:\n    b = [{e} for i in range(n)]", f"b = [{e} for i in range(n)]\nx[0] = 2", f"if k > 0:\n    b = [{e} for i in range(n)]\nelse:\n    b = [v for v in y]", f"b = [{e} for i in range(n)]\nc = b\nb[0] = 5")
    read = one_of(r, "b[i]", "b[i]", "b[n - 1 - i]", "b[(i + q) % n]", "b[0]", "b[q % n]", f"(b[i - {d}] if i >= {d} else b[i])", "b[max(i - q, 0)]", "x[i] * b[i]")
    damp = " * 0.25" if t.startswith("f") else " % 17"
    step = r.choice((
        f"p = [(p[i] + {read}){damp} for i in range(n)]", f"for i in range({span(r, 'n')}):\n        p[i] = (p[i] + {read}){damp}", f"s = (s + sum({read} * p[i] for i in range({span(r, 'n')}))){damp}", f"for i in range({span(r, 'n')}):\n        if p[i] > {number(r, t)}:\n            p[i] = (s + {read}){damp}",
        f"for j in range(2):\n        p = [(p[i] + {read} * {t}(j)){damp} for i in range(n)]", f"p = [(p[i] + {read}){damp} for i in range(n)] if q > 0 else [{read} for i in range(n)]",
    ))
    change = r.choice(("", "", "\n    x[q % n] = p[0]", "\n    if p[0] > 0:\n        y[q % n] = s", "\n    b[q % n] = p[0]", "\n    if q == 1:\n        b = [v for v in p]", "\n    x = [v for v in p]", "\n    b, p = p, b", "\n    if x[0] > 0:\n        x[n - 1] = p[0]", "\n    y[0] += s"))
    loop = r.choice((f"for q in range({one_of(r, 'k % 4', '3', 'n - 2', 'k - 3', '0')}):\n    ", "q = 0\nwhile q < k % 4:\n    "))
    end = "\n    q += 1" if "while" in loop else ""
    text = f"s = {zero(t)}\np = [v for v in x]\n{made}\n{loop}{step}{change}{end}\nreturn p, x, y, s" + one_of(r, "", ", b")
    if r.random() < 0.3:
        inner = "\n".join("    " + line for line in f"{made}\n{loop}{step}{change}{end}".split("\n"))
        text = f"s = {zero(t)}\np = [v for v in x]\n{one_of(r, 'for o in range(2):', 'if k > 1:', 'for o in range(k % 3):')}\n{inner}\nreturn p, x, y, s"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", text), tuple((max(n, 1), 1) for n, _ in sizes(r, n=(*TINY, 4, 5, 8, 9, 17, 64))), low=-4, high=4)


def neighbours(r: Chooser) -> Program:
    """Sums, products and extremes of elements beside each other, over ranges that are the same, almost the same, empty or fewer than none."""
    t = kind(r)
    d, g = far(r, 4), far(r, 3)
    ranges = [f"range(n - {d})", f"range({d}, n)", f"range(n - {g})", f"range(0, n - {d})", "range(n)", f"range({d}, n - {g})", f"range(n // 2 - {g})", f"range(k, n - {d})", "range(n - k % 5)"]
    always = ranges[0] if r.random() < 0.6 else ""

    def total() -> str:
        over = always or r.choice(ranges)
        away = one_of(r, f"i + {d}", f"i + {g}", "i")
        here = f"x[{away}]" if over == f"range(n - {d})" and away in (f"i + {d}", "i") else "x[i]" if "k," not in over else "x[max(i, 0)]"
        if over.startswith(f"range({d}"):
            here = one_of(r, f"x[i - {d}]", "x[i]")
        e = one_of(r, here, f"{here} * y[max(min(i, n - 1), 0)]", f"{here} * {here}", f"({here} if {here} > {number(r, t)} else y[0])", f"{here} - {value(r, t, ['y[max(min(i, n - 1), 0)]'], 1)}")
        op = one_of(r, "sum", "sum", "max", "min", "any", "all")
        if op in ("max", "min"):
            return f"{op}(({e} for i in {over}), default={number(r, t)})"
        if op in ("any", "all"):
            return f"{op}({e} > {number(r, t)} for i in {over})"
        where = one_of(r, "", f" if x[i] > {number(r, t)}", "") if "k," not in over else ""
        return f"sum({e} for i in {over}{where})"

    parts = [total() for _ in range(r.randint(2, 4))]
    if r.random() < 0.4:
        parts.append(f"[x[i + {d}] - x[i] for i in range(n - {d})]")
    between = one_of(r, "", f"y[0] = {number(r, t)}\n", f"x[n - 1] = {number(r, t)}\n")
    names = [f"s{i}" for i in range(len(parts))]
    lines = [f"{name} = {part}\n" for name, part in zip(names, parts, strict=True)]
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"{lines[0]}{between}{''.join(lines[1:])}return {', '.join(names)}"), tuple((max(n, 1), 1) for n in (*r.sample(TINY, 3), *r.sample(BESIDE, 4))), nan=r.random() < 0.2)


def named_once(r: Chooser) -> Program:
    """The same expression in several branches and after writes to what it is made of: elements beside it, the element itself, a variable, in a loop within, where only one branch writes."""
    t = kind(r)
    d = far(r, 3)
    same = one_of(r, "(x[i] * y[i] + x[i])", f"(x[max(i - {d}, 0)] + y[i] * 2)", "(s * x[i] - y[i])", "(x[i] * x[i])", "(x[(i + 1) % n] - s)")
    test = one_of(r, "x[i] > 0", "s > 1", f"i >= {d}", "k > 2", "i % 2 == 0", "y[i] > x[i]")
    damp = " * 0.5" if t.startswith("f") else " % 13"
    writes = ("y[i] = v{d}", "x[i] = v{d}", "s = (s + v){d}", "x[max(i - 1, 0)] = v{d}", "x[(i + 1) % n] = v{d}", "y[n - 1 - i] = v{d}", "for c in range(2):\n        x[c % n] = (x[c % n] + {e}){d}", "for c in range(k % 3):\n        s = (s + {e}){d}", "if {t}:\n        x[i] = v{d}", "if {t}:\n        s = v{d}\n    else:\n        y[i] = v{d}", "w = {e}", "x[i], y[i] = y[i], x[i]")
    lines = [f"v = {same}"]
    for _ in range(r.randint(2, 4)):
        lines.append(r.choice(writes).replace("{d}", damp).replace("{e}", same).replace("{t}", test))
        lines.append(r.choice((f"v = {same}", f"if {test}:\n        v = {same}", f"v = {same} if {test} else {number(r, t)}", f"if {test}:\n        y[i] = {same}{damp}", f"s = (s + {same}){damp}")))
    body = "".join(f"    {line}\n" for line in lines)
    text = f"s = {zero(t)}\nv = {zero(t)}\nw = {zero(t)}\nfor i in range({one_of(r, 'n', span(r, 'n'))}):\n{body}return x, y, s, v, w"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", text), tuple((max(n, 1), 1) for n, _ in sizes(r, n=(*TINY, 4, 5, 8, 9, 16, 17))), low=-3, high=3)


__all__ = ["named_once", "neighbours", "seems_to_stay", "two_turns"]


def coming_back(r: Chooser) -> Program:
    """Indices that grow with a round and then come back, or stay for some of them: remainders, quotients and what is left without them. What is seen of their ends, of
    rounds that are apart or of neighbours is true of no range, and of no two rounds."""
    t = one_of(r, "f64", "f32")
    d = r.choice((2, 3, 4))

    def turn(x: str) -> str:
        return r.choice((f"{x} % {d}", f"{x} % {d}", f"{x} // {d}", f"({x} - {x} // {d})", f"({x} + {x} // {d}) % 4", f"(3 - {x} % {d})", f"({x} % {d} + {x} // {d}) % 4"))

    few = r.choice((3, 4, 5, 6))
    here = turn("u") if few <= 4 else f"u % {d}"
    bin_ = turn("j").replace("j // ", "j % 4 // ").replace("j -", "j % 4 -").replace("j +", "j % 4 +")
    e = one_of(r, "a[i, j]", "a[i, j] * y[j]", f"a[i, j] * {number(r, t)} + x[i]")
    body = r.choice((
        f"v = [[sqrt(abs(a[i, j])) + {number(r, t)} for j in range(m)] for i in range(n + 8)]\nz = [[sum(v[i + {here}, j]{r.choice(('', ' * v[i + 1, j]'))} for u in range({few})) for j in range(m)] for i in range(n)]",
        f"v = [exp(x[i] / 100) for i in range(n + 8)]\nz = [sum(v[i + {here}] for u in range({few})) for i in range(n)]",
        f"z = [[{zero(t)} for j in range(4)] for i in range(2)]\nfor i in range(n):\n    for j in range(m):\n        z[p[i] % 2, {bin_}] += {e}",
        f"z = [{zero(t)} for j in range(4)]\nfor i in range(n):\n    for j in range(m):\n        z[{bin_}] {r.choice(('+=', '+=', '='))} {e}",
        f"z = x\nfor i in range({few}, n):\n    for u in range({few}):\n        z[i] = z[i] + z[max(i - 1 - {turn('u')}, 0)] * x[i]",
        f"z = x\nfor i in range(n - 8):\n    z[i + {turn('i')} % 8] = {r.choice(('x[i]', 'z[i] + x[i]', 'z[i + 1] * 2'))}",
        f"s, z = {zero(t)}, x\nfor i in range(n):\n    s = s + x[i]\n    z[{turn('i')} % n] = s",
    ))
    text = function(f"a: {t}[n + 8, m], x: {t}[n + 8], y: {t}[m], p: i64[n], k: i64", body + "\nreturn z")
    return Program(text, sizes(r, n=(*TINY, 5, 8, 17, 300, 600), m=(*TINY, 4, 5, 8, 9)))
