"""Suggestions as edits of the source: `error.edits`. What a help says in words, where it says one concrete thing to write.

A table by code: a rule looks at the place of the error (its text, parsed as Python) and at the words of the suggestion, and gives the edits that follow it. A
suggestion that leaves something to decide ("give it a value before the loop") has none. Edits are spans with the text that goes there, so that an
editor applies them as they are; `apply` does it to a text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atoll.errors.span import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in place of a span; an empty span inserts."""

    span: Span
    text: str


def apply(text: str, edits: Sequence[Edit], first_line: int = 1) -> str:
    """The text with the edits made; they do not overlap. Columns count bytes of UTF-8, as spans do."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for edit in sorted(edits, key=lambda e: (e.span.line, e.span.column), reverse=True):
        s = edit.span
        start, end = s.line - first_line, s.end_line - first_line
        while len(lines) <= end:
            lines.append(b"")
        lines[start : end + 1] = [lines[start][: s.column] + edit.text.encode() + lines[end][s.end_column :]]
    return b"".join(lines).decode()


class Place:
    """The text of an error's span, as Python sees it, and what the suggestion says."""

    def __init__(self, span: Span, help_: str = "", title: str = "") -> None:
        self.span, self.help, self.title = span, help_, title
        lines = [span.source.line(n) or "" for n in range(span.line, span.end_line + 1)]
        raw = [line.encode() for line in lines]
        raw[-1] = raw[-1][: span.end_column]
        raw[0] = raw[0][span.column :]
        self.text = b"\n".join(raw).decode(errors="replace")
        self.node: ast.expr | None = None
        try:
            self.node = ast.parse(f"({self.text}\n)", mode="eval").body
        except (SyntaxError, ValueError):
            pass

    def part(self, node: ast.expr | ast.keyword) -> Span:
        """The span of a part of the expression."""
        first, last = node.lineno, node.end_lineno or node.lineno
        column = node.col_offset - 1 + self.span.column if first == 1 else node.col_offset
        end = (node.end_col_offset or 0) - 1 + self.span.column if last == 1 else node.end_col_offset or 0
        return Span(self.span.source, self.span.line + first - 1, column, self.span.line + last - 1, end)

    def words(self, node: ast.expr | ast.keyword) -> str:
        """The text of a part."""
        return Place(self.part(node)).text

    def say(self, text: str) -> list[Edit]:
        """Write this instead of the whole."""
        return [Edit(self.span, text)]

    def around(self, node: ast.expr, name: str) -> list[Edit]:
        """Put a call around a part."""
        return [Edit(self.part(node), f"{name}({self.words(node)})")]

    def insert(self, line: int, text: str) -> list[Edit]:
        """A line of its own, before this one and indented like it."""
        here = self.span.source.line(line) or ""
        pad = here[: len(here) - len(here.lstrip())]
        return [Edit(Span(self.span.source, line, 0, line, 0), f"{pad}{text}\n")]

    def remove_lines(self, first: int, last: int) -> list[Edit]:
        return [Edit(Span(self.span.source, first, 0, last + 1, 0), "")]

    def definition(self, name: str | None = None) -> int | None:
        """The line where the function around the place (or the one of that name) begins: its first decorator."""
        found: int | None = None
        for number in range(self.span.line, self.span.source.first_line - 1, -1) if name is None else self._lines():
            line = (self.span.source.line(number) or "").lstrip()
            if line.startswith("def ") and (name is None or line.startswith(f"def {name}(")):
                found = number
                break
        if found is None:
            return None
        while (self.span.source.line(found - 1) or "").lstrip().startswith("@"):
            found -= 1
        return found

    def _lines(self) -> range:
        last = self.span.source.first_line
        while self.span.source.line(last) is not None:
            last += 1
        return range(self.span.source.first_line, last)


Rule = Callable[[Place], "list[Edit]"]


def _call(p: Place) -> ast.Call | None:
    return p.node if isinstance(p.node, ast.Call) else None


def _meant(p: Place) -> list[Edit]:
    """`did you mean sum?`: the name, or a keyword of the call."""
    found = re.fullmatch(r"did you mean (\S+)\?", p.help)
    if found is None:
        return []
    if isinstance(p.node, ast.Name):
        return p.say(found[1])
    if isinstance(p.node, ast.Attribute):
        whole, value = p.part(p.node), p.part(p.node.value)
        return [Edit(Span(whole.source, value.end_line, value.end_column + 1, whole.end_line, whole.end_column), found[1])]
    wrong = [k for k in (_call(p).keywords if _call(p) else []) if k.arg is not None and _alike(k.arg, found[1])]  # type: ignore[union-attr]
    return [Edit(p.part(k), f"{found[1]}={p.words(k.value)}") for k in wrong[:1]]


def _alike(a: str, b: str) -> bool:
    from difflib import get_close_matches

    return a != b and bool(get_close_matches(a, [b], cutoff=0.5))


def _declare(p: Place) -> list[Edit]:
    """`declare sizes with q = at.sizes("q")`: above the function."""
    found = re.search(r'with (\w+ = at\.\w+\("\w+"\))', p.help)
    line = p.definition()
    return p.insert(line, found[1]) if found and line is not None else []


def _decorate(p: Place) -> list[Edit]:
    """`decorate it with @at.fn`: the function that the call is about."""
    call = _call(p)
    name = call.args[0] if call and call.args else p.node
    if isinstance(p.node, ast.Call) and isinstance(p.node.func, ast.Name) and not isinstance(name, ast.Name):
        return []
    line = p.definition(name.id) if isinstance(name, ast.Name) else None
    return p.insert(line, "@at.fn") if line is not None else []


def _convert(p: Place) -> list[Edit]:
    """`write i64(...) to convert`: the whole, or the argument that the error is about."""
    found, call = re.search(r"(?:write|with) (\w+)\(\.\.\.\)", p.help), _call(p)
    if found and p.title.startswith("argument "):
        return p.around(call.args[0], found[1]) if call and len(call.args) == 1 and not call.keywords else []
    if p.title.startswith("the result of the function"):  # it is converted where it is defined
        return []
    is_value = p.node is not None and not (isinstance(p.node, ast.Name) and p.node.id in _TYPES)
    return p.say(f"{found[1]}({p.text})") if found and is_value else []


_TYPES = {"bool", *(f"{kind}{bits}" for kind in "iuf" for bits in (8, 16, 32, 64))}


def _convert_left(p: Place) -> list[Edit]:
    found = re.search(r"(\w+)\(\.\.\.\)", p.help)
    return p.around(p.node.left, found[1] if found else "f64") if isinstance(p.node, ast.BinOp) else []


def _convert_argument(k: int) -> Rule:
    def rule(p: Place) -> list[Edit]:
        call, found = _call(p), re.search(r"(\w+)\((?:\.\.\.|x)\)", p.help)
        return p.around(call.args[k], found[1]) if call and found and len(call.args) > k else []

    return rule


def _real(p: Place) -> list[Edit]:
    call = _call(p)
    if call is None or not call.args:
        return []
    real = f"{p.words(call.args[0])}.real" if isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({p.words(call.args[0])}).real"
    return p.say(real) if isinstance(call.func, ast.Name) and call.func.id in _TYPES else [Edit(p.part(call.args[0]), real)]


def _compare_sizes(p: Place) -> list[Edit]:
    return [e for side in (p.node.left, *p.node.comparators) for e in p.around(side, "abs")] if isinstance(p.node, ast.Compare) else []


def _brackets(p: Place) -> list[Edit]:
    """x(0) is x[0]."""
    call = _call(p)
    return p.say(f"{p.words(call.func)}[{', '.join(map(p.words, call.args))}]") if call and not call.keywords else []


def _parentheses(p: Place) -> list[Edit]:
    """f64[3] is f64(3)."""
    return p.say(f"{p.words(p.node.value)}({p.words(p.node.slice)})") if isinstance(p.node, ast.Subscript) else []


def _display(p: Place) -> list[Edit]:
    return p.say(f"[{p.text[1:-1]}]") if isinstance(p.node, ast.GeneratorExp) and p.text.startswith("(") else []


def _without_none(p: Place) -> list[Edit]:
    if not isinstance(p.node, ast.Subscript):
        return []
    items = p.node.slice.elts if isinstance(p.node.slice, ast.Tuple) else [p.node.slice]
    left = [p.words(x) for x in items if not (isinstance(x, ast.Constant) and x.value is None)]
    return p.say(p.words(p.node.value) + (f"[{', '.join(left)}]" if left else ""))


def _by_name(p: Place) -> list[Edit]:
    """`give by by name: by=...`: the last argument given by position."""
    found, call = re.search(r"by name: (\w+)=", p.help), _call(p)
    return [Edit(p.part(call.args[-1]), f"{found[1]}={p.words(call.args[-1])}")] if found and call and call.args else []


def _keyword(wrong: str, right: str | None) -> Rule:
    """Another keyword or value: `argnums` is `wrt`. None: without it."""

    def rule(p: Place) -> list[Edit]:
        calls = [x for x in ast.walk(p.node) if isinstance(x, ast.Call)] if p.node is not None else []
        for call in calls:
            for k in call.keywords:
                if k.arg == wrong:
                    if right is not None:
                        return [Edit(p.part(k), right.format(p.words(k.value)))]
                    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
                    before = [x for x in given if x.lineno < k.lineno or (x.lineno == k.lineno and x.col_offset < k.col_offset)]
                    cut, start = p.part(k), p.part(before[-1]) if before else None
                    at = (start.end_line, start.end_column) if start is not None else (cut.line, cut.column)
                    return [Edit(Span(cut.source, *at, cut.end_line, cut.end_column), "")]
        return []

    return rule


def _add_argument(text: str) -> Rule:
    """One more argument of the call."""

    def rule(p: Place) -> list[Edit]:
        s = p.span
        return [Edit(Span(s.source, s.end_line, s.end_column - 1, s.end_line, s.end_column - 1), f", {text}")] if _call(p) and p.text.endswith(")") else []

    return rule


def _without_option(p: Place) -> list[Edit]:
    """`leave no_false_deps out`, in the head of a loop."""
    found, line = re.match(r"leave (\w+) out", p.help), p.span.source.line(p.span.line) or ""
    option = re.search(rf",\s*{found[1]}=\w+", line) if found else None
    if option is None:
        return []
    start, end = (len(line[:k].encode()) for k in option.span())
    return [Edit(Span(p.span.source, p.span.line, start, p.span.line, end), "")]


def _times(p: Place) -> list[Edit]:
    return p.say(f"{p.words(p.node.left)} * {p.words(p.node.right)}") if isinstance(p.node, ast.BinOp) else []


def _function_of_both(p: Place) -> list[Edit]:
    """`write concat([...], [...])` or mul([...], k)."""
    found = re.search(r"write (\w+)\(", p.help)
    return p.say(f"{found[1]}({p.words(p.node.left)}, {p.words(p.node.right)})") if found and isinstance(p.node, ast.BinOp) else []


def _lambda(p: Place) -> list[Edit]:
    """`write map(lambda x, y: dot(x, y), ...)`: the first argument."""
    found, call = re.search(r"write \w+\((lambda .*), \.\.\.\)", p.help), _call(p)
    return [Edit(p.part(call.args[0]), found[1])] if found and call and call.args else []


def _remove_statement(p: Place) -> list[Edit]:
    whole = (p.span.source.line(p.span.line) or "").strip()
    return p.remove_lines(p.span.line, p.span.end_line) if whole and p.text.split("\n")[0].strip() == whole else []


def _annotate(p: Place) -> list[Edit]:
    """`annotate the result: def f(...) -> f64:`"""
    found, line = re.search(r"-> (.+):$", p.help), p.definition()
    while found and line is not None and (text := p.span.source.line(line)) is not None:
        if text.rstrip().endswith("):"):
            at = len(text.rstrip().encode()) - 1
            return [Edit(Span(p.span.source, line, at, line, at), f" -> {found[1]}")]
        line += 1
    return []


def _copied(p: Place) -> list[Edit]:
    found = re.search(r"write it: (\w+ = at\.copy\(\w+\))", p.help)
    return p.insert(p.span.line, found[1]) if found else []


def _round_index(p: Place) -> list[Edit]:
    """`or x[(i - 1) % n] to go round`"""
    found = re.search(r"or (\S+\[.+\]) to go round", p.help)
    return p.say(found[1]) if found else []


def _apply_gradient(p: Place) -> list[Edit]:
    """grad(f, x) is grad(f)(x)."""
    call = _call(p)
    return p.say(f"{p.words(call.func)}({p.words(call.args[0])})({', '.join(map(p.words, call.args[1:]))})") if call and len(call.args) > 1 else []


def _range(p: Place) -> list[Edit]:
    call = _call(p)
    return p.say(f"{p.words(call.func)}(range({', '.join(map(p.words, call.args))}))") if call and len(call.args) > 1 else []


def _jacobian(p: Place) -> list[Edit]:
    """`or use jacrev`"""
    call = _call(p)
    if call is None or not p.help.endswith("use jacrev") or not re.fullmatch(r"(at\.)?grad", p.words(call.func)):
        return []
    return [Edit(p.part(call.func), p.words(call.func).replace("grad", "jacrev"))]


def _ask_gradient(p: Place) -> list[Edit]:
    found = re.search(r"at\.grad\(\w+\)\.residuals\(\)", p.help)
    return p.say(found[0]) if found else []


def _remove_case(p: Place) -> list[Edit]:
    """A case that nothing reaches: it and its body."""
    head = p.span.source.line(p.span.line) or ""
    indent, last = len(head) - len(head.lstrip()), p.span.line
    while (text := p.span.source.line(last + 1)) is not None and text.strip() and len(text) - len(text.lstrip()) > indent:
        last += 1
    return p.remove_lines(p.span.line, last) if head.lstrip().startswith("case ") else []


RULES: dict[str, Rule] = {
    "E0101": lambda p: _remove_statement(p) if p.help.endswith("remove the statement") else [],
    "E0105": _meant,
    "E0115": _remove_statement,
    "E0119": _declare,
    "E0123": _annotate,
    "E0201": _convert,
    "E0204": _convert_left,
    "E0206": _compare_sizes,
    "E0207": lambda p: p.say(f"any({p.text})") if p.node is not None and not p.help.startswith("for every element") else [],
    "E0208": lambda p: p.say(f"{p.text} != 0") if isinstance(p.node, (ast.Name, ast.Call, ast.Subscript)) else [],
    "E0209": _real,
    "E0210": _real,
    "E0213": _convert_argument(0),
    "E0219": lambda p: _without_none(p) if "None" in p.help else [],
    "E0220": _parentheses,
    "E0222": _convert,
    "E0231": _display,
    "E0235": _by_name,
    "E0236": lambda p: _meant(p) or (_keyword("argnums", "wrt={}")(p) if "wrt=" in p.help else []),
    "E0239": lambda p: _brackets(p) if "[...]" in p.help else [],
    "E0246": _keyword("dtype", "dtype=f32"),
    "E0253": _convert_argument(1),
    "E0254": _keyword("mode", 'mode="drop"'),
    "E0260": _times,
    "E0263": _lambda,
    "E0264": _keyword("axis", None),
    "E0267": _function_of_both,
    "E0305": _declare,
    "E0401": lambda p: p.say(f"at.copy({p.text})") if isinstance(p.node, ast.Name) else [],
    "E0701": _round_index,
    "E0708": _add_argument('mode="drop"'),
    "E0711": _convert_left,
    "E0807": _copied,
    "E1003": _jacobian,
    "E1012": _decorate,
    "E1013": _without_option,
    "E1016": _apply_gradient,
    "E1017": _range,
    "E1018": _keyword("checkpoint", "checkpoint=2"),
    "E1021": _ask_gradient,
    "E1107": _remove_case,
}


def edits_of(code: str, span: Span, help_: str, title: str) -> tuple[Edit, ...]:
    """The edits that follow an error's suggestion; none where it leaves something to decide or the text is not at hand."""
    rule = RULES.get(code)
    if rule is None or not span.line or not help_ or span.source.line(span.end_line) is None:
        return ()
    return tuple(rule(Place(span, help_, title)))
