"""An interpreter for λANF, the language Atoll's own functions become (atoll/functions/ir.py), written in Atoll.

    term ::= Let x = rhs; term | If x then term else term | Tail f(y...) | Ret x
    rhs  ::= Number k | Binary op x y | Call f(y...) | Pair x y | First x | Second x

Functions are a list of (parameters, body) numbered from 0; variables are numbers; an environment is a list of values, the newest first.
Fuel runs out as in atoll/functions/evaluate.py: every step costs one unit, and a program that uses it up gives `Out`.
"""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List, Nil


@at.record
class Int:
    """A number."""

    value: i64


@at.record
class Pair:
    """Two values."""

    first: Value
    second: Value


@at.record
class Stuck:
    """What no rule says anything about: the first part of a number, an unknown variable."""


@at.record
class Out:
    """Out of fuel."""


Value = Int | Pair | Stuck | Out


@at.record
class Number:
    """k"""

    value: i64


@at.record
class Binary:
    """x op y: 0 is +, 1 is -, 2 is *, 3 is < (as 1 or 0)"""

    op: i64
    left: i64
    right: i64


@at.record
class Call:
    """f(y...)"""

    function: i64
    args: List[i64]


@at.record
class MakePair:
    """(x, y)"""

    first: i64
    second: i64


@at.record
class Part:
    """The first (0) or second (1) part of x."""

    of: i64
    which: i64


Rhs = Number | Binary | Call | MakePair | Part


@at.record
class Let:
    """A new variable 0; the others are one further."""

    rhs: Rhs
    rest: Term


@at.record
class If:
    """Whether x is not 0."""

    test: i64
    then: Term
    orelse: Term


@at.record
class Tail:
    """f(y...), whose result is ours."""

    function: i64
    args: List[i64]


@at.record
class Ret:
    """x"""

    value: i64


Term = Let | If | Tail | Ret


@at.fn
def variable(env: List[Value], k: i64) -> Value:
    """Variable k of an environment."""
    match env:
        case Nil():
            return Stuck()
        case Cons(v, rest):
            return v if k == 0 else variable(rest, k - 1)


@at.fn
def body(functions: List[Term], k: i64) -> Term:
    """The body of function k."""
    match functions:
        case Nil():
            return Ret(-1)
        case Cons(b, rest):
            return b if k == 0 else body(rest, k - 1)


@at.fn
def given(env: List[Value], args: List[i64]) -> List[Value]:
    """The environment a function starts with: its arguments, the last one newest."""

    def go(args: List[i64], done: List[Value]) -> List[Value]:
        match args:
            case Nil():
                return done
            case Cons(k, rest):
                return go(rest, Cons(variable(env, k), done))

    return go(args, Nil())


@at.fn
def binary(op: i64, x: Value, y: Value) -> Value:
    """An operation on numbers."""
    match x, y:
        case Int(a), Int(b):
            if op == 0:
                return Int(a + b)
            if op == 1:
                return Int(a - b)
            if op == 2:
                return Int(a * b)
            return Int(1 if a < b else 0)
        case _:
            return Stuck()


@at.fn
def run(functions: List[Term], term: Term, env: List[Value], fuel: i64) -> (Value, i64):
    """The value of a term, and the fuel that is left."""
    if fuel <= 0:
        return Out(), 0
    match term:
        case Ret(x):
            return variable(env, x), fuel - 1
        case Tail(f, args):
            return run(functions, body(functions, f), given(env, args), fuel - 1)
        case If(x, then, orelse):
            match variable(env, x):
                case Int(0):
                    return run(functions, orelse, env, fuel - 1)
                case Int(_):
                    return run(functions, then, env, fuel - 1)
                case _:
                    return Stuck(), fuel - 1
        case Let(Call(f, args), rest):
            v, left = run(functions, body(functions, f), given(env, args), fuel - 1)
            match v:
                case Out():
                    return v, left
                case _:
                    return run(functions, rest, Cons(v, env), left)
        case Let(rhs, rest):
            return run(functions, rest, Cons(simple(rhs, env), env), fuel - 1)


@at.fn
def simple(rhs: Rhs, env: List[Value]) -> Value:
    """A right-hand side that is no call."""
    match rhs:
        case Number(k):
            return Int(k)
        case Binary(op, x, y):
            return binary(op, variable(env, x), variable(env, y))
        case MakePair(x, y):
            return Pair(variable(env, x), variable(env, y))
        case Part(x, which):
            match variable(env, x):
                case Pair(a, b):
                    return a if which == 0 else b
                case _:
                    return Stuck()
        case Call(_, _):
            return Stuck()


@at.fn
def evaluate(functions: List[Term], main: Term, fuel: i64) -> (Value, i64):
    """A program: its functions and its main term."""
    return run(functions, main, Nil(), fuel)


# -- the same by Atoll's own evaluator


def factorial_and_sum(k: int) -> tuple[list[Any], Any]:
    """fact(n) = if n < 1 then 1 else n * fact(n - 1); sum(n, a) tail-recursive; the pair of both at k."""
    # in fact: variable 0 is n. let one = 1; let small = n < one; if small ret one else let m = n - one; let r = fact(m); let p = n * r; ret p
    fact = Let(
        Number(1),
        Let(Binary(3, 1, 0), If(0, Ret(1), Let(Binary(1, 2, 1), Let(Call(0, [0]), Let(Binary(2, 4, 0), Ret(0)))))),
    )
    # in sum: variable 0 is a, 1 is n
    sum_ = Let(
        Number(1),
        Let(Binary(3, 2, 0), If(0, Ret(2), Let(Binary(1, 3, 1), Let(Binary(0, 3, 4), Tail(1, [1, 0]))))),
    )
    main = Let(
        Number(k),
        Let(Call(0, [0]), Let(Number(0), Let(Call(1, [2, 0]), Let(MakePair(2, 0), Ret(0))))),
    )
    return [fact, sum_], main


def oracle(functions: list[Any], main: Any, fuel: int) -> Any:
    """A λANF program of atoll/functions/ir.py, run by atoll/functions/evaluate.py; pairs come back as tuples."""
    from atoll.functions import ir
    from atoll.functions.evaluate import evaluate as reference
    from atoll.functions.operators import scalar

    pair = ir.DataType("pair", pair=(ir.DATA, ir.DATA))
    box = ir.DataType("number", number=("i64",))
    number, couple = box.constructors[0], pair.constructors[0]
    names = [ir.Var(f"f{k}", ir.CODE) for k in range(len(functions))]

    def block(t: Any, env: list[Any]) -> Any:
        binds: list[Any] = []
        while isinstance(t, Let):
            binds += rhs(t.rhs, env)
            env = [binds[-1].results[0] if isinstance(binds[-1], ir.Call) else binds[-1].result, *env]
            t = t.rest
        match t:
            case Ret(value):
                return ir.Block(tuple(binds), ir.Ret((env[value],)))
            case Tail(function, args):
                return ir.Block(tuple(binds), ir.Tail(names[function], tuple(env[a] for a in args)))
        raw, zero, test = ir.Var("raw", "i64"), ir.Var("zero", "i64"), ir.Var("test", "bool")
        binds += [ir.Take(raw, env[t.test], number, 0), ir.Literal(zero, 0), ir.Op((test,), scalar("ne", "i64"), (raw, zero))]
        return ir.Block(tuple(binds), ir.Case(test, ((ir.TRUE, block(t.then, env)), (ir.FALSE, block(t.orelse, env)))))

    def boxed(raw: Any) -> list[Any]:
        return [ir.Make(ir.Var("n"), number, (raw,))]

    def rhs(r: Any, env: list[Any]) -> list[Any]:
        raw = ir.Var("raw", "i64")
        match r:
            case Number(value):
                return [ir.Literal(raw, int(value)), *boxed(raw)]
            case Call(function, args):
                return [ir.Call((ir.Var("r"),), names[function], tuple(env[a] for a in args))]
            case MakePair(first, second):
                return [ir.Make(ir.Var("p"), couple, (env[first], env[second]))]
            case Part(of, which):
                return [ir.Take(ir.Var("part"), env[of], couple, which)]
        x, y, less = ir.Var("x", "i64"), ir.Var("y", "i64"), ir.Var("less", "bool")
        take = [ir.Take(x, env[r.left], number, 0), ir.Take(y, env[r.right], number, 0)]
        if r.op < 3:
            return [*take, ir.Op((raw,), scalar(("add", "sub", "mul")[r.op], "i64"), (x, y)), *boxed(raw)]
        from atoll.functions.operators import cast

        return [*take, ir.Op((less,), scalar("lt", "i64"), (x, y)), ir.Op((raw,), cast("bool", "i64"), (less,)), *boxed(raw)]

    counts = _parameters(functions, main)
    funs = []
    for name, f, count in zip(names, functions, counts, strict=True):
        params = tuple(ir.Var("p") for _ in range(count))
        funs.append(ir.Fun(name, params, block(f, list(reversed(params)))))
    start = block(main, [])
    program = ir.Program(ir.Block((ir.Funs(tuple(funs)), *start.binds), start.term))
    outcome = reference(program, fuel)
    return None if outcome.out_of_time else _plain(outcome.values[0])


def _parameters(functions: list[Any], main: Any) -> list[int]:
    """How many arguments each function is called with."""
    counts = [0] * len(functions)
    todo = [*functions, main]
    while todo:
        t = todo.pop()
        for part in (t, getattr(t, "rhs", None)):
            if isinstance(part, (Call, Tail)):
                counts[part.function] = len(part.args)
        todo += [part for name in ("rest", "then", "orelse") if (part := getattr(t, name, None)) is not None]
    return counts


def _plain(v: Any) -> Any:
    """A value of the reference as Python numbers and tuples."""
    if len(v.fields) == 1:
        return int(v.fields[0])
    return tuple(_plain(part) for part in v.fields)


def python(v: Any) -> Any:
    """A value of ours in the same form."""
    match v:
        case Int(value):
            return int(value)
        case Pair(first, second):
            return (python(first), python(second))
        case Out():
            return None
        case Stuck():
            return "stuck"


def check() -> list[Any]:
    """Pairs of what this interpreter and Atoll's own evaluator say."""
    pairs = []
    for k in (0, 1, 5, 12):
        functions, main = factorial_and_sum(k)
        pairs.append((python(evaluate(functions, main, 10_000)[0]), oracle(functions, main, 10_000)))
    for_ever = [Tail(0, [])]
    pairs.append((python(evaluate(for_ever, Tail(0, []), 5000)[0]), oracle(for_ever, Tail(0, []), 5000)))
    stuck = Let(Number(3), Let(Part(0, 1), Ret(0)))
    pairs.append((python(evaluate([], stuck, 100)[0]), "stuck"))
    return pairs


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs, (ours, theirs)
    functions, program = factorial_and_sum(10)
    value, left = evaluate(functions, program, 1000)
    print(f"(10!, 1 + ... + 10) = {python(value)}, for {1000 - left} units of fuel")


if __name__ == "__main__":
    main()
