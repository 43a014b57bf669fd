"""Trees of statements over a few arrays: branches in loops in branches, at any depth and in any order, with arrays that are arguments, made before everything, or made anew in a branch."""

from __future__ import annotations

from textwrap import indent

from .words import Chooser, Program, function, sizes

SMALL = (1, 2, 3, 4, 5, 9)
TESTS = ("k > 1", "k % 2 == 0", "p > 2", "{a}[{i}] > 1", "{a}[{i}] < {b}[{j}]", "k > 0 and {a}[{i}] > 0", "{a}[{i}] == 2 or k == 3", "n > 2", "{i} % 2 == 1", "not k == 2")
UPDATES = (
    "{a}[{i}] = p", "{a}[{i}] = k", "{a}[{i}] += 1", "{a}[{i}] = {b}[{j}] + 1", "{a}[{i}], {b}[{j}] = {b}[{j}], {a}[{i}]", "{a}, {b} = {b}, {a}", "{a} = {b}", "{a} = {a} + 1", "{a} = zeros(n, dtype=i64)",
    "{a}[1:] = {b}[1:]", "{a}[:1] += {b}[{i}]", "p += {a}[{i}]", "p = k", "p = p + 1", "{a}[{i}] = p\n{b}[{j}] = {a}[{i}]",
)
OF_ROWS = (
    "{r} = t[{i}]\nfor v{d} in range(2):\n    t[{j}, v{d}] = {r}[(v{d} + 1) % 2] + p", "{r} = t[:, {c}]\nfor v{d} in range(n):\n    t[v{d}, 0] = {r}[(v{d} + k) % n] + 1", "t[{i}] = t[{j}] + 1", "t[{i}, {c}] += {a}[{j}]", "p, {a}[{i}] = t[{j}]",
    "t[{i}], t[{j}] = t[{j}], t[{i}]", "{r} = t[{i}]\nwhile {r}[0] > 0 and p < 40:\n    t[{i}, 0] = {r}[1] - p\n    t[{j}, 1] += 1\n    p += 7", "t[:, {c}] = {a}",
)


class Tree:
    """A tree that is being written: how deep it is, which loops are around, how many names were made."""

    def __init__(self, r: Chooser, arrays: tuple[str, ...], rows: bool) -> None:
        self.r, self.arrays, self.rows = r, arrays, rows
        self.made = 0

    def words(self, rounds: tuple[str, ...]) -> dict[str, str]:
        a, b = self.r.sample(self.arrays, 2)
        places = ["0", "k % n", "n - 1", "p % n", *(f"{i} % n" for i in rounds), *rounds]
        self.made += 1
        return {"a": a, "b": b, "i": self.r.choice(places), "j": self.r.choice(places), "c": self.r.choice("01"), "r": f"r{self.made}", "d": str(self.made)}

    def block(self, depth: int, rounds: tuple[str, ...]) -> str:
        return "\n".join(self.statement(depth, rounds) for _ in range(self.r.choice((1, 1, 2, 2, 3))))

    def statement(self, depth: int, rounds: tuple[str, ...]) -> str:
        way = self.r.random()
        if depth == 0 or way < 0.3:
            return self.r.choice(OF_ROWS if self.rows and self.r.random() < 0.5 else UPDATES).format(**self.words(rounds))
        if way < 0.72:
            text = f"if {self.test(rounds)}:\n{self.inside(depth, rounds)}"
            if self.r.random() < 0.25:
                text += f"\nelif {self.test(rounds)}:\n{self.inside(depth, rounds)}"
            if self.r.random() < 0.4:
                text += f"\nelse:\n{self.inside(depth, rounds)}"
            return text
        if way < 0.78:
            return f"match {self.r.choice(('k', 'p'))} % 3:\n    case 0:\n{indent(self.inside(depth, rounds), '    ')}\n    case _:\n{indent(self.inside(depth, rounds), '    ')}"
        if len(rounds) > 1:
            return self.statement(depth - 1, rounds)
        self.made += 1
        i = f"i{self.made}"
        if way < 0.9:
            return f"for {i} in range({self.r.choice(('n', 'n', '2', 'k % 3', 'n - 1'))}):\n{self.inside(depth, (*rounds, i))}{self.leaves(rounds + (i,))}"
        return f"{i} = 0\nwhile {i} < n and p < 50:\n    {i} += 1\n{self.inside(depth, rounds)}{self.leaves(rounds)}"

    def spine(self, depth: int) -> str:
        """Branches in branches, at each level of which arrays change before, in a loop over several of them, and after."""
        parts = [self.statement(0, ()) for _ in range(self.r.randrange(2))]
        if depth:
            parts.append(f"if {self.test(())}:\n{indent(self.spine(depth - 1), '    ')}")
            if self.r.random() < 0.2:
                parts[-1] += f"\nelse:\n{self.inside(1, ())}"
        if not depth or self.r.random() < 0.3:
            self.made += 1
            i = f"i{self.made}"
            parts.insert(self.r.randrange(len(parts) + 1), f"for {i} in range({self.r.choice(('n', '2', 'k % 3'))}):\n" + indent("\n".join(self.statement(0, (i,)) for _ in range(2)), "    "))
        return "\n".join(parts)

    def leaves(self, rounds: tuple[str, ...]) -> str:
        return f"\n    if {self.test(rounds)}:\n        {self.r.choice(('break', 'continue'))}\n{self.inside(0, rounds)}" if self.r.random() < 0.2 else ""

    def inside(self, depth: int, rounds: tuple[str, ...]) -> str:
        return indent(self.block(depth - 1 if depth else 0, rounds), "    ")

    def test(self, rounds: tuple[str, ...]) -> str:
        return self.r.choice(TESTS).format(**self.words(rounds))


def tree(r: Chooser) -> Program:
    """Branches and loops in each other around updates of whole arrays, elements and rows."""
    rows = r.random() < 0.4
    made = r.choice(("z = zeros(n, dtype=i64)", "z = zeros(n, dtype=i64)", "z = x", "z = [v + j for j, v in enumerate(x)]", "z = x + 0"))
    tree = Tree(r, ("x", "y", "z"), rows)
    body = tree.spine(r.choice((1, 2, 2, 3))) if r.random() < 0.4 else "\n".join(tree.statement(3, ()) for _ in range(r.choice((1, 2))))
    text = f"p = 0\n{made}\n{body}\nreturn x, y, z, p" + (", t" if rows else "")
    return Program(function("x: i64[n], y: i64[n]" + (", t: i64[n, 2]" if rows else "") + ", k: i64", text), tuple((max(n, 1), 1) for n, _ in sizes(r, n=SMALL)), low=-1, high=5)


__all__ = ["tree"]
