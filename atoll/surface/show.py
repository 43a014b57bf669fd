"""Surface trees as text. What is printed as it was written is quoted from the source; only what a subclass changes is written anew."""

from __future__ import annotations

from typing import Any

from atoll.surface import syntax as s

# Python's precedence, loosest first.
_LAMBDA, _IF, _OR, _AND, _NOT, _COMPARE, _BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT, _SUM, _PRODUCT, _SIGN, _POWER, _CALL = range(15)
_LEVELS = {
    "|": _BIT_OR,
    "^": _BIT_XOR,
    "&": _BIT_AND,
    "<<": _SHIFT,
    ">>": _SHIFT,
    "+": _SUM,
    "-": _SUM,
    **dict.fromkeys(("*", "/", "//", "%", "@"), _PRODUCT),
    "**": _POWER,
}


def level(node: Any) -> int:
    """How tightly the outermost operator of an expression binds."""
    match node:
        case s.Lambda():
            return _LAMBDA
        case s.IfExp():
            return _IF
        case s.BoolOp(op):
            return _OR if op == "or" else _AND
        case s.Unary("not"):
            return _NOT
        case s.Compare():
            return _COMPARE
        case s.BinOp(op):
            return _LEVELS[op]
        case s.Unary():
            return _SIGN
        case s.Num(value) if isinstance(value, (int, float)) and value < 0:
            return _SIGN
    return _CALL


def parameters(params: tuple[s.Param, ...]) -> str:
    """The parameters of a local function or lambda as they are written, with the marks / and *."""
    shown: list[str] = []
    for k, p in enumerate(params):
        before = params[k - 1].given if k else "either"
        if before == "position" and p.given != "position":
            shown.append("/")
        if p.given == "name" and before != "name":
            shown.append("*")
        text = p.name if p.annotation is None else f"{p.name}: {p.annotation.span.text()}"
        equals = "=" if p.annotation is None else " = "
        shown.append(text if p.default is None else text + equals + p.default.span.text())
    if params and params[-1].given == "position":
        shown.append("/")
    return ", ".join(shown)


class Printer:
    """Prints expressions. A subclass overrides `changed` and `rewritten` to put something else in place of a node."""

    def changed(self, node: Any) -> bool:
        """True when the node itself, not counting its parts, is to be written anew."""
        return False

    def rewritten(self, node: Any) -> tuple[str, int]:
        """The text of a changed node, and its level."""
        raise NotImplementedError

    def is_touched(self, node: Any) -> bool:
        return self.changed(node) or any(self.is_touched(part) for part in children(node))

    def expr(self, node: Any, around: int = 0, within: bool = False) -> str:
        """The text of an expression, in parentheses where something tighter stands around it. `within` one whose text is also its own (`x in (a, b)`), it is written from its parts."""
        if self.changed(node):
            text, tight = self.rewritten(node)
        elif not self.is_touched(node) and not within and (quoted := node.span.text()):
            text, tight = quoted, level(node)
        else:
            text, tight = self.form(node), level(node)
        return f"({text})" if tight < around else text

    def form(self, node: Any) -> str:
        """A node written from its parts."""
        here = level(node)
        match node:
            case s.Num(value):
                return repr(value)
            case s.Name(id):
                return id
            case s.NoneValue():
                return "None"
            case s.Text():
                return str(node.span.text())
            case s.Attr(value, name):
                return f"{self.expr(value, _CALL)}.{name}"
            case s.Call(fn, args, keywords):
                return self.call(self.expr(fn, _CALL), [self.expr(a) for a in args], keywords)
            case s.BinOp("**", left, right):
                return f"{self.expr(left, _POWER + 1)} ** {self.expr(right, _SIGN)}"
            case s.BinOp(op, left, right):
                return f"{self.expr(left, here)} {op} {self.expr(right, here + 1)}"
            case s.Unary(op, value):
                return f"{op} {self.expr(value, here, value.span == node.span)}" if op == "not" else f"{op}{self.expr(value, here)}"
            case s.BoolOp(op, values):
                return f" {op} ".join(self.expr(v, here + 1, v.span == node.span) for v in values)
            case s.Compare(first, rest):
                return self.expr(first, here + 1) + "".join(f" {op} {self.expr(e, here + 1)}" for op, e in rest)
            case s.IfExp(test, then, orelse):
                return f"{self.expr(then, _OR)} if {self.expr(test, _OR)} else {self.expr(orelse, _IF)}"
            case s.Lambda(params, body):
                return f"lambda {parameters(params)}: {self.expr(body)}"
            case s.ListDisplay(items):
                return f"[{', '.join(map(self.expr, items))}]"
            case s.Spread(value):
                return f"*{self.expr(value, _OR)}"
            case s.TupleDisplay(items):
                inner = ", ".join(map(self.expr, items))
                return f"({inner},)" if len(items) == 1 else f"({inner})"
            case s.Comprehension(element, clauses, is_list):
                inner = f"{self.expr(element)} {' '.join(map(self.clause, clauses))}"
                return f"[{inner}]" if is_list else f"({inner})"
            case s.Subscript(value, items):
                return f"{self.expr(value, _CALL)}[{', '.join(map(self.item, items))}]"
            case s.TupleTarget(items):
                return ", ".join(map(self.expr, items))
        return str(node.span.text())

    def call(self, fn: str, args: list[str], keywords: Any) -> str:
        named = [f"{key}={self.expr(value)}" for key, value in keywords]
        if len(args) == 1 and not named and args[0].startswith("(") and " for " in args[0] and args[0].endswith(")"):
            return f"{fn}{args[0]}" if _is_generator(args[0]) else f"{fn}({args[0]})"
        return f"{fn}({', '.join(args + named)})"

    def clause(self, clause: s.Clause) -> str:
        conditions = "".join(f" if {self.expr(c, _OR)}" for c in clause.conditions)
        return f"for {self.expr(clause.target)} in {self.expr(clause.iter, _OR)}{conditions}"

    def item(self, item: Any) -> str:
        if isinstance(item, s.Slice):
            low, high, step = ("" if e is None else self.expr(e) for e in (item.low, item.high, item.step))
            return f"{low}:{high}" + (f":{step}" if step else "")
        if isinstance(item, s.Ellipsis):
            return "..."
        return "None" if isinstance(item, s.NewAxis) else self.expr(item)


def _is_generator(text: str) -> bool:
    """True when the parentheses at both ends belong together."""
    depth = 0
    for k, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return k == len(text) - 1
    return False


def children(node: Any) -> list[Any]:
    """The expressions directly inside an expression, target or item."""
    match node:
        case s.Attr(value) | s.Spread(value) | s.Unary(_, value):
            return [value]
        case s.Call(fn, args, keywords):
            return [fn, *args, *(value for _, value in keywords)]
        case s.BinOp(_, left, right):
            return [left, right]
        case s.BoolOp(_, values):
            return list(values)
        case s.Compare(first, rest):
            return [first, *(e for _, e in rest)]
        case s.IfExp(test, then, orelse):
            return [test, then, orelse]
        case s.Lambda(_, body):
            return [body]
        case s.ListDisplay(items) | s.TupleDisplay(items) | s.TupleTarget(items):
            return list(items)
        case s.Comprehension(element, clauses):
            return [element, *(x for c in clauses for x in (c.iter, *c.conditions))]
        case s.Subscript(value, items):
            return [value, *items]
        case s.Slice(low, high, step):
            return [e for e in (low, high, step) if e is not None]
        case s.Text(parts):
            return [part[0] for part in parts if not isinstance(part, str)]
    return []
