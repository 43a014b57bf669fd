"""Random programs of little.py as Atoll text: the whole way from the front end to C, held against λANF's own evaluator.

    python -m tests.functions.text 0:200
"""

from __future__ import annotations

import sys
from typing import Any

import atoll as at
from atoll.functions.evaluate import evaluate, observe
from tests.functions.little import Little, RandomPrograms

HEAD = """from __future__ import annotations
import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List, Nil
"""


def type_text(t: Any) -> str:
    if isinstance(t, str):
        return {"int": "i64", "bool": "at.bool_", "list": "List[i64]"}[t]
    return f"at.Fn[[{', '.join(map(type_text, t[1]))}], {type_text(t[2])}]"


class Text:
    """Statements under construction; an expression is printed as statements and a name or number."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def body(self, e: Any, t: Any, env: dict[str, Any]) -> None:
        self.depth += 1
        atom, _ = self.expr(e, env)
        self.put(f"return {atom}")
        self.depth -= 1

    def define(self, name: str, params: Any, t: Any, body: Any, env: dict[str, Any]) -> None:
        self.put(f"def {name}({', '.join(f'{p}: {type_text(u)}' for p, u in params)}) -> {type_text(t)}:")
        self.body(body, t, {**env, **dict(params)})

    def expr(self, e: Any, env: dict[str, Any]) -> tuple[str, Any]:
        if isinstance(e, int):
            return f"({e})", "int"
        if isinstance(e, str):
            return e, env[e]
        head, *rest = e
        if len(head) <= 2 and head not in ("if",):
            a, b = (self.expr(x, env)[0] for x in rest)
            t = "bool" if head in ("<", "<=", "=") else "int"
            name = self.fresh()
            self.put(f"{name} = {a} {'==' if head == '=' else head} {b}")
            return name, t
        return getattr(self, f"_{head}")(rest, env)  # type: ignore[no-any-return]

    def _nil(self, rest: Any, env: Any) -> tuple[str, Any]:
        name = self.fresh()
        self.put(f"{name}: List[i64] = Nil()")
        return name, "list"

    def _cons(self, rest: Any, env: Any) -> tuple[str, Any]:
        a, b = (self.expr(x, env)[0] for x in rest)
        name = self.fresh()
        self.put(f"{name}: List[i64] = Cons({a}, {b})")
        return name, "list"

    def _let(self, rest: Any, env: Any) -> tuple[str, Any]:
        name, value, body = rest
        atom, t = self.expr(value, env)
        self.put(f"{name}: {type_text(t)} = {atom}")
        return self.expr(body, {**env, name: t})

    def _app(self, rest: Any, env: Any) -> tuple[str, Any]:
        f, t = self.expr(rest[0], env)
        args = [self.expr(a, env)[0] for a in rest[1:]]
        name = self.fresh()
        self.put(f"{name} = {f}({', '.join(args)})")
        return name, t[2]

    def _lam(self, rest: Any, env: Any) -> tuple[str, Any]:
        params, t, body = rest
        name = self.fresh()
        self.define(name, params, t, body, env)
        return name, ("fn", tuple(u for _, u in params), t)

    def _rec(self, rest: Any, env: Any) -> tuple[str, Any]:
        defs, body = rest
        env = {**env, **{f: ("fn", tuple(u for _, u in params), t) for f, params, t, _ in defs}}
        for f, params, t, e in defs:
            self.define(f, params, t, e, env)
        return self.expr(body, env)

    def _if(self, rest: Any, env: Any) -> tuple[str, Any]:
        test, _ = self.expr(rest[0], env)
        return self.branches([(f"if {test}:", rest[1], env), ("else:", rest[2], env)], "")

    def _case(self, rest: Any, env: Any) -> tuple[str, Any]:
        value, nil, (h, t), cons = rest
        atom, _ = self.expr(value, env)
        return self.branches([("case Nil():", nil, env), (f"case Cons({h}, {t}):", cons, {**env, h: "int", t: "list"})], f"match {atom}:")

    def branches(self, arms: list[Any], head: str) -> tuple[str, Any]:
        """A local function whose branches return; its type is found by printing them."""
        name = self.fresh()
        at_ = len(self.lines)
        self.depth += 1 + bool(head)
        t: Any = None
        for line, e, env in arms:
            self.put(line)
            self.depth += 1
            atom, t = self.expr(e, env)
            self.put(f"return {atom}")
            self.depth -= 1
        self.depth -= 1 + bool(head)
        pad = "    " * self.depth
        above = [f"{pad}def {name}() -> {type_text(t)}:", *([f"{pad}    {head}"] if head else [])]
        self.lines[at_:at_] = above
        result = self.fresh()
        self.put(f"{result} = {name}()")
        return result, t


def text_of(program: Any) -> str:
    """A program as an Atoll function without parameters that anything depends on."""
    text = Text()
    atom, t = text.expr(program, {})
    text.put(f"return {atom}")
    return f"{HEAD}\n@at.fn\ndef f(nothing: i64) -> {type_text(t)}:\n" + "\n".join(text.lines) + "\n"


def expected(program: Any) -> Any:
    """The value by λANF's evaluator; None when it takes too long."""
    outcome = evaluate(Little(False).program(program), 10**6)
    if outcome.out_of_time:
        return None
    (value,) = observe(outcome.values)
    return value if isinstance(value, (int, type(value))) and not isinstance(value, tuple) else [x[1][0] for x in value if x != "Nil"]


def check(seed: int, depth: int = 4, compiled: bool = True) -> bool:
    """Whether compiled code and interpreter have the value; False when there is nothing to compare."""
    program = RandomPrograms(seed).program(depth)
    want = expected(program)
    if want is None:
        return False
    f: Any = at.fn(source=text_of(program))
    assert f.interpret(0) == want, (seed, "interpreted", f.interpret(0), want)
    if compiled:
        found = f.compile("0").call(0)
        assert found == want, (seed, "compiled", found, want)
    return True


if __name__ == "__main__":
    first, last = map(int, sys.argv[1].split(":"))
    for number in range(first, last):
        try:
            check(number)
        except Exception as error:  # noqa: BLE001  a fuzzer goes on
            print(number, type(error).__name__, str(error)[:600])
