"""Templates of control: places that walk through arrays until something is found, stacks, flags that end loops, loops that count up and down by hand."""

from __future__ import annotations

from .words import Chooser, Program, function, one_of

SIZES = ((0, 1), (1, 1), (2, 1), (3, 1), (8, 1), (17, 1))


def _inside(r: Chooser, p: str) -> str:
    """A condition under which a place is in the array, said in one of many ways."""
    return one_of(r, f"0 <= {p} < n", f"{p} >= 0 and {p} < n", f"not ({p} < 0 or {p} > n - 1)", f"{p} >= 0 and not {p} >= n", f"-1 < {p} and {p} + 1 <= n", f"{p} >= 0 and {p} + 1 <= n", f"not ({p} < 0 or {p} + 1 > n)")


def walk(r: Chooser) -> Program:
    start = one_of(r, "0", "n - 1", "n // 2", "k % (n + 1)")
    step = one_of(r, "p += 1", "p -= 1", "p += 2", "p = p + 1 if a[p] > 0 else p - 1", "p = b[p]", "p = 2 * p + 1", "p = (p - 1) // 2 if p > 0 else -1", "p = min(p + k % 3 + 1, n)")
    work = one_of(r, "s += a[p]", "a[p] += 1", "a[p] = a[n - 1 - p]", "s += b[p] * t", "a[p], b[p] = b[p], a[p]\n        s += 1", "s += a[p] * b[n - 1 - p]", "s += b[n - 1 - p] - a[p]", "b[n - 1 - p] = a[p]")
    body = f"s, t, p = 0, 0, {start}\nwhile t < 2 * n + 3 and {_inside(r, 'p')}:\n    t += 1\n    if {one_of(r, 'a[p] != k', 'p != 0', 'p != n - 1', 't % 3 > 0', 'True')}:\n        {work}\n    {step}\nreturn a, b, s, p"
    return Program(function("a: i64[n], b: i64[n], k: i64", body), SIZES)


def stack(r: Chooser) -> Program:
    push = one_of(r, "if top < n:\n            a[top] = v\n            top += 1", "if top != n:\n            a[top] = v + top\n            top += 1", "if n > top:\n            top += 1\n            a[top - 1] = v")
    pop = one_of(r, "elif top > 0:\n        top -= 1\n        s += a[top]", "elif top != 0:\n        s += a[top - 1]\n        top -= 1", "elif top >= 2:\n        top -= 1\n        a[top - 1] += a[top]")
    body = f"top, s = 0, 0\nfor v in b:\n    if v {one_of(r, '> 0', '!= k', '% 3 > 0')}:\n        {push}\n    {pop}\nreturn a, top, s"
    return Program(function("a: i64[n], b: i64[n], k: i64", body), SIZES)


def leaving(r: Chooser) -> Program:
    test = one_of(r, "a[j] == b[i]", "a[j] > k", "a[j] == 0 or a[j] == k or j == i - 1", "i + j > n", "a[i] < b[j] and i != j")
    last = one_of(r, "break", "found = j\n            break", "s += 1\n            if s > 3:\n                break", "continue")
    body = f"s, found = 0, -1\nfor i in range(n):\n    for j in range({one_of(r, 'n', 'i', 'i, n', 'n - 1, i, -1')}):\n        if {test}:\n            {last}\n        s += a[j]\n" + one_of(r, "    if found >= 0:\n        break\n", "    else:\n        s += 7\n", "") + "return s, found"
    return Program(function("a: i64[n], b: i64[n], k: i64", body), SIZES)


def leaving_while(r: Chooser) -> Program:
    """A `break` out of a loop that has conditions of its own."""
    condition = one_of(r, "p > 0", "p >= 2 and s < 50", "p > 0 and a[p - 1] > k", "p > 0 and (a[p - 1] > k or b[p - 1] == 0)", "p >= 1 and not a[p - 1] == k", "s < 20 and p != 0")
    work = one_of(r, "s += a[p - 1]", "a[p - 1] = a[p - 1] + b[p - 1]\n        s += 1", "s += 1\n        if s % 3 == 0:\n            p -= 1\n            continue")
    test = one_of(r, "a[p - 1] == b[p - 1]", "s > k", "p > 1 and a[p - 2] < b[p - 1]", "a[p - 1] > 2 or s > 9")
    last = one_of(r, "break", "t = p\n            break")
    body = f"s, t = 0, -1\nfor i in range(n):\n    p = {one_of(r, 'n', 'i', 'n - i')}\n    while {condition}:\n        {work}\n        if {test}:\n            {last}\n        p -= 1\n    s += p\nreturn a, s, t"
    return Program(function("a: i64[n], b: i64[n], k: i64", body), SIZES)


def overwritten(r: Chooser) -> Program:
    """Arrays that are filled and then written, all over or nearly."""
    t = one_of(r, "f64", "i64", "f32")
    rows = one_of(r, "range(n)", "range(n)", "range(n - 1, -1, -1)", "range(1, n)", "range(n - 1)", "range(k % (n + 1))")
    columns = one_of(r, "range(m)", "range(m)", "range(m - 1, -1, -1)", "range(1, m)", "range(i, m)", "range(0, m, 2)")
    place = one_of(r, "x[i, j]", "x[i, j]", "x[n - 1 - i, j]", "x[i, m - 1 - j]", "x[i, (j + 1) % m]")
    value = one_of(r, "a[i, j] + 1", "a[i, j] + 1", "a[i, j] + x[i, j]", "a[i, j] + x[0, 0]", "b[j]")
    store = one_of(r, "{p} = {v}", "{p} = {v}", "if a[i, j] > 2:\n            {p} = {v}", "{p} += {v}", "if b[j] > 3:\n            break\n        {p} = {v}").format(p=place, v=value)
    between = one_of(r, "", "", "s += 1\n", "s += i64(x[0, 0]) if n > 0 and m > 0 else 0\n")
    fill = f"x = [[{t}({r.randrange(3)}) for j in range(m)] for i in range(n)]\n"
    loops = f"for i in {rows}:\n    for j in {columns}:\n        {store}\n"
    body = f"s = 0\n{fill}{between}{loops}" + "return x, s"
    if r.random() < 0.3:
        inner = "".join(f"    {line}\n" for line in f"{fill}{between}{loops}".replace("for i", "for q").replace("[i", "[q").replace("- i", "- q").replace("(i,", "(q,").splitlines())
        body = f"s, y = 0, a\nfor t in range(2):\n{inner}    y = x\nreturn y, s"
    return Program(function(f"a: {t}[n, m], b: {t}[m], k: i64", body), ((0, 0), (3, 0), (0, 3), (1, 1), (2, 1), (4, 3), (7, 5)))


def improved(r: Chooser) -> Program:
    """One element that rounds of an inner loop improve, under conditions that may be about it."""
    t = one_of(r, "i64", "i64", "i32", "u8", "f64")
    span = one_of(r, "range(i)", "range(i)", "range(i + 1, n)", "range(n)", "range(k % 5, i)", "range(i - 1, -1, -1)")
    value = one_of(r, "y[j] + 1", "y[j] + a[i]", "a[j]", "y[j] + b[j]", "y[i - 1 - j] + 1", "2 * y[j]", "a[j] + y[i]")
    sign = one_of(r, ">", ">", "<", ">=", "<=")
    guard = one_of(r, "", "b[j] < b[i]", "b[j] < b[i] and a[j] > 1", "b[j] < b[i] or j == k", "y[i] < 7", "a[j] % 2 == 0", "j > 0 and b[j - 1] > 2")
    test = one_of(r, "{g}{v} {s} y[i]", "{g}{v} {s} y[i]", "{g}y[i] {s} {v}", "{v} {s} y[i]{h}", "{g}{v} {s} y[j]").format(g=f"{guard} and " if guard and " or " not in guard else "", v=value, s=sign, h=f" and ({guard})" if guard else "")
    body = one_of(r, f"if {test}:\n            y[i] = {value}", f"if {guard or 'a[j] > 0'}:\n            if {test}:\n                y[i] = {value}", f"y[i] = {one_of(r, 'max', 'min')}(y[i], {value})", f"if {test}:\n            y[i] = {value}\n            s += 1")
    return Program(function(f"a: {t}[n], b: {t}[n], y: {t}[n], k: i64", f"s = 0\nfor i in range(n):\n    for j in {span}:\n        {body}\nreturn y, s"), ((0, 0), (1, 1), (2, 1), (3, 1), (9, 1), (17, 1), (40, 1)))


def by_hand(r: Chooser) -> Program:
    start, test, step = r.choice((("0", "p < n", "p += 1"), ("n - 1", "p >= 0", "p -= 1"), ("n - 1", "p > 0", "p -= 1"), ("k % 5", "p < n", "p += 1"), ("n", "p >= 1", "p -= 1"), ("0", "p < n - 1", "p += 1"), ("-2", "p < k % 7", "p += 1"), ("0", "p < n", "p += 2")))
    work = one_of(r, "a[p] = b[p]", "a[p] = a[p - 1]", "s += a[p]", "a[p] += s\n        s += p", "a[n - 1 - p] = b[p]", "s = 3 * s + p", "if b[p] > 0:\n            a[p] = k")
    body = f"s, p = 0, {start}\nwhile {test}:\n    if 1 <= p < n:\n        {work}\n    {step}\nreturn a, s, p"
    return Program(function("a: i64[n], b: i64[n], k: i64", body), SIZES)


def window(r: Chooser) -> Program:
    t = one_of(r, "f64", "f32")
    first = one_of(r, "sqrt(abs(a[i, j]))", "a[i, j] / (abs(a[i, (j + 1) % m]) + 3)", "exp(a[i, j] / 100) - b[j]", "a[i, j] / (b[(i + j) % m] * b[j] + 7)")
    d = r.choice((1, 2, 3, 5))
    reads = " + ".join(f"x[i + {c}, j]" if c else "x[i, j]" for c in sorted({0, d, r.randrange(d + 1)} - ({0} if r.random() < 0.2 else set())))
    more = one_of(r, "", "", " + x[i, (j + 1) % m]", " + b[j]")
    body = f"x = [[{first} for j in range(m)] for i in range(n + {d})]\nreturn [[{reads}{more} for j in range(m)] for i in range(n)]" + one_of(r, "", "", ", x")
    return Program(function(f"a: {t}[n + {d}, m], b: {t}[m], k: i64", body), ((0, 1), (1, 1), (2, 3), (5, 2), (17, 4), (70, 3)))


def nothing(r: Chooser) -> Program:
    """Rounds that do nothing where an inner range is empty; or something beside it, which must not be left out."""
    t = one_of(r, "f64", "f32", "i64")
    inner = one_of(r, "range(m)", "range(m)", "range(k % (m + 1))", "range(i % (m + 1))", "range(1, m)")
    beside = one_of(r, "", "", "    s[i] = i\n", "    if i > k:\n        s[i] = i\n")
    more = one_of(r, "", "", "    for j in range(m):\n        x[i, j] = x[i, j] + b[j]\n")
    body = f"x = [[a[i, j] for j in range(m)] for i in range(n)]\ns = [b[i % m] if m > 0 else 0 for i in range(n)]\nfor i in range(n):\n    for j in {inner}:\n        x[i, j] = x[i, j] + a[i, (j + 1) % m]\n{beside}{more}"
    return Program(function(f"a: {t}[n, m], b: {t}[m], k: i64", body + "return x, s"), ((0, 0), (3, 0), (0, 3), (1, 1), (4, 2), (2, 5)))


def clamped(r: Chooser) -> Program:
    """Windows that end where the array does: ends that are the larger or smaller of two, of data too."""
    t = one_of(r, "f64", "f32", "i64")
    low = one_of(r, "max(0, i - k)", "max(i - 2, 0)", "max(0, i - k % 4)", "min(max(k, 0), n)", "max(0, c[i])", "abs(i - 3)")
    high = one_of(r, "min(n, i + k + 1)", "min(i + 3, n)", "min(n, i + k % 4)", "max(min(k, n), 0)", "min(n, c[i] + 4)")
    work = one_of(r, "s += a[j]", "s = max(s, a[j])", "s = min(s, a[j] - a[i])", "s += a[j] * (j - i)", "b[j] = b[j] + a[i]", "if a[j] > s:\n            s = a[j]\n            b[i] = j")
    if r.random() < 0.3:
        body = f"return [{one_of(r, 'sum', 'max')}({one_of(r, 'a[j]', 'a[j] * a[i]')} for j in range({low}, {high}){one_of(r, '', ' if a[j] > 0')}) for i in range(n)]"
        body = body.replace("max(a", "sum(a")  # of nothing there is none
    else:
        body = f"s = a[0] if n > 0 else {t}(0)\nfor i in range(n):\n    for j in range({low}, {high}):\n        {work}\n    b[i] = b[i] + s\n" + one_of(r, "", "    s = a[i]\n") + "return b, s"
    return Program(function(f"a: {t}[n], b: {t}[n], c: i64[n], k: i64", body), SIZES)
