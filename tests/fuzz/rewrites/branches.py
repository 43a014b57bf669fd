"""Templates about what exists in a branch only, and about functions that hold what changes: states that a branch makes and a loop changes with older ones; operators of scans and folds that
capture the variables of the loops around them; local functions that call themselves, handed to functions of the user's."""

from __future__ import annotations

from .words import AROUND, TINY, Chooser, Program, function, number, one_of, sizes, span, value, zero

FEW = (1, 2, 3, 4, 5, 9, 17)


def made_in_branch(r: Chooser) -> Program:
    """An array that a branch makes, in a loop with one that was there before; what is made of it afterwards is a value, a range, a place, a test, a divisor, another state."""
    t = one_of(r, "i64", "f64")
    test = one_of(r, "k > 2", "x[0] > 0", "x[n - 1] > x[0]", "k % 2 == 0 and x[0] > 0", "sum(x) > 0", "m > 1")
    made = one_of(r, "[y[j % n] + j for j in range(4)]", f"scan(add, {zero(t)}, [y[j % n] for j in range(4)])", f"zeros(4, dtype={t})", "[max(y[j % n], y[0]) for j in range(4)]", f"[{value(r, t, ['x[j % n]', 'y[0]'], 1)} for j in range(4)]", "sort([y[j % n] for j in range(4)])")
    step = r.choice((f"s[j % 4] += {number(r, t)}", "s[j % 4] = x[j % n]", "s = [v + 1 for v in s]", "s[1:] = s[:-1]", "s[3 - j % 4], s[0] = s[0], s[3 - j % 4]", "if x[j % n] > 0:\n            s[j % 4] += y[0]"))
    change = r.choice(("x[j % n] = s[0]", "x[j % n] += 1", "x[n - 1 - j % n] = s[j % 4]", "if s[j % 4] > 0:\n            x[j % n] = s[1]"))
    loop = one_of(r, "for j in range(3):", f"for j in range({span(r, 'n')}):", "j = 0\n    while j < k % 5:")
    body = "\n".join("        " + line for line in f"{step}\n{change}".replace("\n            ", "\n    ").split("\n"))
    loop += "\n" + body + ("\n        j += 1" if "while" in loop else "")
    whole = {"i64": "s[2]", "f64": "i64(s[2])"}[t]
    use = r.choice((
        f"o = s[3] + {number(r, t)}", f"for q in range({whole} % 7):\n        o = o + x[q % n]", f"o = x[{whole} % n]", f"o = {t}(100 // ({whole} % 4 + 1))", "o = x[0] if s[0] > s[1] else x[n - 1]",
        "o = sum(v * v for v in s if v > 0)", f"x[{whole} % n] = s[0]", "for q in range(3):\n        s[q] += x[0]\n        o = o + s[q + 1]", "if s[0] > 2:\n        o = s[1]\n        x[0] = s[2]", "x[0] = max(s)\n    o = min(s)",
    ))
    other = one_of(r, "", "else:\n    o = x[0]\n", "else:\n    x[0] = 3\n")
    text = f"o = {zero(t)}\nif {test}:\n    s = {made}\n    {loop}\n    {use}\n{other}return x, o"
    if r.random() < 0.3:
        text = f"e = {zero(t)}\nfor a in range(2):\n" + "\n".join("    " + line for line in text.replace("return x, o", "e = e + o\n").rstrip("\n").split("\n")) + "\nreturn x, e"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64, w: f64[m]", text), tuple((max(n, 1), m) for n, m in sizes(r, n=FEW, m=TINY)), low=-4, high=4)


def captured(r: Chooser) -> Program:
    """Operators that capture the variable of a loop, a state, a size or a row around a scan, fold, histogram or map."""
    t = one_of(r, "f64", "i64")
    held = r.choice(("i", "x[i]", "s", "n", "k", "s + i", "y[(i + k) % n]", "a[0]", "len(y)", "min(i, k)"))
    op = r.choice((f"lambda p, q: p + q * {t}({held})", f"lambda p, q: max(p, q) + {t}({held})", f"lambda p, q: p if q > {t}({held}) else q", f"lambda p, q: (p + q) if {t}({held}) > 1 else q", f"lambda p, q: p * 0 + q + {t}({held})"))
    how = r.choice((
        f"s = s + reduce({op}, {zero(t)}, y)", f"b = scan({op}, {zero(t)}, y)\n    s = b[i]", f"y = scan({op}, {zero(t)}, y)", f"s = s + sum(map(lambda v: v + {t}({held}), y))", f"a = [reduce({op}, {zero(t)}, y) if j == i else a[j] for j in range(n)]",
        f"if x[i] > 0:\n        s = reduce({op}, {zero(t)}, x)", f"g = lambda v: v + {t}({held})\n    s = s + g(x[i]) - g(y[0])", f"a = map(lambda v, u: v + u * {t}({held}), a, y)", f"def g(v):\n        z = v\n        for q in range(2):\n            z = z + {t}({held})\n        return z\n    s = s + g(x[i])",
    ))
    over = one_of(r, "for i in range(n):", f"for i in range({span(r, 'n')}):", "i = 0\nwhile i < min(n, 4):")
    if r.random() < 0.25:
        inner = f"reduce({op}, {zero(t)}, y)".replace("a[0]", "y[0]").replace("s + i", "i").replace("(s)", "(i)")
        return Program(function(f"x: {t}[n], y: {t}[n], k: i64", f"return [{inner} for i in range(n)]"), tuple((max(n, 1), 1) for n, _ in sizes(r, n=FEW)), low=-2, high=2)
    text = f"s = {zero(t)}\na = x\n{over}\n    {how}" + ("\n    i += 1" if "while" in over else "") + "\nreturn s, a, y"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", text), tuple((max(n, 1), 1) for n, _ in sizes(r, n=(1, 2, 3, 4, 5, 6))), low=-2, high=2)


def at_blocks(r: Chooser) -> Program:
    """Two loops, one of which almost follows the other: one round more or less, one place further, at lengths beside every block."""
    t = one_of(r, "f64", "f32", "i64")
    off = r.choice((0, 0, 1, 1, 2, 3))
    low, high = r.choice(("0", "1", str(off))), r.choice(("n", "n - 1", f"n - {off}", "n // 2", "n - n % 4", "(n + 3) // 4 * 4 - 3"))
    first = r.choice((f"for i in range({low}, {high}):\n    a[i] = {value(r, t, ['x[i]', 'y[i]'], 1)}", f"for i in range({low}, {high}):\n    a[i] += x[i]", f"s = s + sum(x[i] * y[i] for i in range({low}, {high}))", f"a[{low}:] = x[{low}:]"))
    second = r.choice((f"for i in range({high}):\n    s = s + a[i]", f"for i in range({low}, {high}):\n    b[i] = a[max(i - {off}, 0)] + b[i]", f"for i in range({high}):\n    b[n - 1 - i] = a[i]", f"s = s + max([a[i] for i in range({high})], default=0)", f"for i in range({off}, n):\n    a[i] = a[i - {off}] + 1", f"b = [a[i] + (a[i + {off}] if i + {off} < n else a[i]) for i in range(n)]"))
    text = f"a = x + 0\nb = y + 0\ns = {zero(t)}\n{first}\n{second}\nreturn a, b, s"
    return Program(function(f"x: {t}[n], y: {t}[n], k: i64", text), tuple((max(n, 1), 1) for n in (r.choice(TINY), *r.sample((*AROUND, 255, 256, 257, 2047, 2048, 2049), 5))), low=-3, high=3)


__all__ = ["at_blocks", "captured", "made_in_branch"]
