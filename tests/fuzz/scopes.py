"""Random programs of two modules about whose names are meant: functions taking and returning functions, sizes named in lambdas, closures kept in tuples and
records, chosen by branches, made in loops, nested in their own arguments, differentiated; globals and sizes of one name and different values in both.

The oracle is plain Python running the same text: `at.fn` does nothing, and a line at the head of each function binds the sizes its annotations name, which
is how Python would see them. Derivatives are those of dual numbers.

    python -m tests.fuzz.scopes START STOP [--compiled] [--seconds S] [--show]
"""

from __future__ import annotations

import random
import types
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

HEAD = """import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
a, b = at.types("a b")
F = at.Fn[[f64], f64]
"""
ORACLE = """from __future__ import annotations
from tests.fuzz.scopes import oracle as at, grad, jvp, vjp
from builtins import sum
f64 = i64 = F = None
n = m = "a size of no function"
"""
CONSTANTS = ("SCALE", "BIAS", "RATE")
REBOUND = {"E0122", "E0128", "E0110", "E0116"}


@dataclass
class Program:
    texts: tuple[str, str]  # the library's, the main module's, which ends with the function to call
    classes: frozenset[str]
    sizes: tuple[int, int]

    @property
    def may_rebind(self) -> bool:
        return "rebinding" in self.classes


@dataclass
class Names:
    """What can be used at a place."""

    numbers: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    library: dict[str, list[str]] = field(default_factory=dict)  # functions of modules by kind

    def child(self, **more: list[str]) -> Names:
        made = Names(list(self.numbers), list(self.functions), list(self.arrays), list(self.sizes), self.library)
        for kind, names in more.items():
            setattr(made, kind, getattr(made, kind) + names)
        return made


class Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.classes: set[str] = set()
        self.count = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    # -- expressions

    def number(self, at: Names, depth: int) -> str:
        """An expression of type f64."""
        r = self.rng
        kinds = ["name", "name", "literal", "constant"]
        if depth > 0:
            kinds += ["arith", "arith", "arith", "size", "size", "call", "call", "call", "element", "choice", "derive", "reduce", "default", "generic", "direct"]
        kind = r.choice(kinds)
        less = depth - 1
        match kind:
            case "name" if at.numbers:
                return r.choice(at.numbers)
            case "constant":
                return r.choice(CONSTANTS)
            case "arith":
                return f"({self.number(at, less)} {r.choice('+-*')} {self.number(at, less)})"
            case "size" if at.sizes:
                self.classes.add("sizes")
                return f"({self.number(at, less)} {r.choice('+*')} {r.choice(at.sizes)})"
            case "element" if at.arrays:
                return f"{r.choice(at.arrays)}[{r.choice('01')}]"
            case "choice":
                return f"({self.number(at, less)} if {self.number(at, 0)} < {self.number(at, 0)} else {self.number(at, less)})"
            case "call":
                return self.call(at, less)
            case "direct":
                return f"({self.function(at, less)})({self.number(at, less)})"
            case "derive":
                return self.derivative(at, less)
            case "reduce" if at.arrays:
                v, xs = self.fresh("e"), self.vector(at, less)
                return f"sum([{self.number(at.child(numbers=[v]), less)} for {v} in {xs}])"
            case "default" if at.library.get("default"):
                self.classes.add("defaults")
                return f"{r.choice(at.library['default'])}({self.number(at, less)})"
            case "generic" if at.library.get("generic"):
                self.classes.add("generic")
                return f"{r.choice(at.library['generic'])}({self.function(at, less)}, {self.number(at, less)})"
        return f"{r.randint(-3, 3)}.{r.choice('05')}"

    def call(self, at: Names, depth: int) -> str:
        r = self.rng
        options = [k for k in ("apply", "recursive", "first") if at.library.get(k)] + ["own"] * bool(at.functions)
        kind = r.choice(options) if options else "none"
        x = self.number(at, depth)
        match kind:
            case "apply":
                f = self.function(at, depth)
                self.classes.add("nested" if "(lambda" in x or "lambda" in f[8:] else "passed")
                return f"{r.choice(at.library['apply'])}({f}, {x})"
            case "recursive":
                self.classes.add("recursive")
                return f"{r.choice(at.library['recursive'])}({self.function(at, depth)}, {x}, {r.randint(0, 3)})"
            case "first":
                return f"{r.choice(at.library['first'])}({x})"
            case "own":
                return f"{r.choice(at.functions)}({x})"
        return x

    def vector(self, at: Names, depth: int) -> str:
        """An expression of type f64[...]; at least two elements."""
        r = self.rng
        xs = r.choice(at.arrays)
        if depth > 0 and at.library.get("vector") and self.chance(0.5):
            self.classes.add("sizes of the callee")
            inner = r.choice([xs, f"{xs}[:2]", self.vector(at, depth - 1)])
            return f"{r.choice(at.library['vector'])}({self.function(at, depth - 1)}, {inner})"
        return r.choice([xs, xs, f"{xs}[:2]"])

    def function(self, at: Names, depth: int) -> str:
        """An expression that is a function of one number."""
        r = self.rng
        kinds = ["lambda", "lambda", "lambda", "own", "named"]
        if depth > 0:
            kinds += ["maker", "maker", "sized", "compose", "pair"]
        kind = r.choice(kinds)
        less = depth - 1
        match kind:
            case "own" if at.functions:
                return r.choice(at.functions)
            case "named" if at.library.get("first"):
                return r.choice(at.library["first"])
            case "maker" if at.library.get("maker"):
                self.classes.add("returned closures")
                return f"{r.choice(at.library['maker'])}({self.number(at, less)})"
            case "sized" if at.library.get("sized") and at.arrays:
                self.classes.add("returned closures with sizes")
                return f"{r.choice(at.library['sized'])}({self.vector(at, less)})"
            case "compose" if at.library.get("compose"):
                self.classes.add("composed")
                return f"{r.choice(at.library['compose'])}({self.function(at, less)}, {self.function(at, less)})"
            case "pair" if at.library.get("pair"):
                self.classes.add("closures in tuples")
                return f"{r.choice(at.library['pair'])}({self.number(at, less)})[{r.choice('01')}]"
        v = self.fresh("v")
        return f"(lambda {v}: {self.number(at.child(numbers=[v, v]), max(depth - 1, 1))})"

    def derivative(self, at: Names, depth: int) -> str:
        r = self.rng
        self.classes.add("derivatives")
        f = self.function(at, depth)
        x = self.number(at, depth)
        if at.arrays and self.chance(0.3):
            z = self.fresh("z")
            xs = r.choice(at.arrays)
            inner = at.child(arrays=[z])
            e = self.fresh("e")
            return f"grad(lambda {z}: sum([{self.number(inner.child(numbers=[e]), depth)} for {e} in {z}]))({xs})[0]"
        return r.choice([f"grad({f})({x})", f"jvp({f}, {x}, 1.0)", f"vjp({f}, {x}, 2.0)"])

    # -- statements

    def body(self, at: Names, count: int, depth: int, indent: str) -> list[str]:
        """Statements that bind names; `at` gains them."""
        r = self.rng
        lines: list[str] = []
        for _ in range(count):
            kind = r.choice(["number", "number", "lambda", "def", "loop", "branch", "match", "record", "tuple", "array", "keep", "rebind"])
            match kind:
                case "number":
                    name = self.fresh("t")
                    lines.append(f"{indent}{name} = {self.number(at, depth)}")
                    at.numbers.append(name)
                case "lambda":
                    name = self.fresh("g")
                    lines.append(f"{indent}{name} = {self.function(at, depth)}")
                    at.functions.append(name)
                case "def":
                    name, v, t = self.fresh("h"), self.fresh("v"), self.fresh("t")
                    inner = at.child(numbers=[v])
                    lines.append(f"{indent}def {name}({v}: f64) -> f64:")
                    lines.append(f"{indent}    {t} = {self.number(inner, depth)}")
                    lines.append(f"{indent}    return {self.number(inner.child(numbers=[t]), depth)}")
                    at.functions.append(name)
                case "loop" if at.arrays:
                    self.classes.add("closures in loops")
                    name, i, g = self.fresh("s"), self.fresh("i"), self.fresh("g")
                    xs = r.choice(at.arrays)
                    inner = at.child(numbers=[name])
                    inner.sizes.append(i)
                    lines.append(f"{indent}{name} = 0.0")
                    lines.append(f"{indent}for {i} in range(2):")
                    lines.append(f"{indent}    {g} = {self.function(inner, depth)}")
                    lines.append(f"{indent}    {name} = {name} * 0.5 + {self.number(at.child(functions=[g], numbers=[f'{xs}[{i}]']), depth)}")
                    at.numbers.append(name)
                case "branch":
                    self.classes.add("closures chosen by branches")
                    name = self.fresh("g")
                    lines.append(f"{indent}if {self.number(at, 0)} < {self.number(at, 0)}:")
                    lines.append(f"{indent}    {name} = {self.function(at, depth)}")
                    lines.append(f"{indent}else:")
                    lines.append(f"{indent}    {name} = {self.function(at, depth)}")
                    at.functions.append(name)
                case "match":
                    self.classes.add("closures in match")
                    name, w = self.fresh("t"), self.fresh("w")
                    lines.append(f"{indent}match ({self.number(at, 0)}, {r.randint(0, 1)}):")
                    lines.append(f"{indent}    case ({w}, 0):")
                    lines.append(f"{indent}        {name} = {self.call(at.child(numbers=[w]), depth)}")
                    lines.append(f"{indent}    case ({w}, _):")
                    lines.append(f"{indent}        {name} = {self.number(at.child(numbers=[w]), depth)}")
                    at.numbers.append(name)
                case "record":
                    self.classes.add("closures in records")
                    name = self.fresh("r")
                    lines.append(f"{indent}{name} = Held({self.function(at, depth)}, {self.number(at, depth)})")
                    at.functions.append(f"{name}.f")
                    at.numbers.append(f"{name}.k")
                case "tuple":
                    self.classes.add("closures in tuples")
                    name = self.fresh("p")
                    lines.append(f"{indent}{name} = ({self.function(at, depth)}, {self.number(at, depth)})")
                    at.functions.append(f"{name}[0]")
                    at.numbers.append(f"{name}[1]")
                case "array" if at.arrays:
                    self.classes.add("closures in comprehensions")
                    name, e = self.fresh("x"), self.fresh("e")
                    inner = at.child(numbers=[e])
                    lines.append(f"{indent}{name} = [{self.number(inner, depth)} for {e} in {self.vector(at, depth)}]")
                    at.arrays.append(name)
                case "keep" if at.numbers:
                    self.classes.add("defaults")
                    name, v, k = self.fresh("g"), self.fresh("v"), self.fresh("k")
                    lines.append(f"{indent}{name} = lambda {v}, {k}={self.number(at, 1)}: {self.number(at.child(numbers=[v, k]), depth)}")
                    at.functions.append(name)
                case "rebind" if at.numbers and self.chance(0.15):
                    own = [name for name in at.numbers if name.isidentifier() and name[0] in "ts"]
                    if own:
                        self.classes.add("rebinding")
                        lines.append(f"{indent}{r.choice(own)} = {self.number(at, depth)}")
        return lines


def _function(w: Writer, kind: str, name: str, library: dict[str, list[str]], at_lib: bool) -> str:
    """One function of a module; the line `#sizes` is where the oracle binds them."""
    r = w.rng
    at = Names(library=library)
    depth = r.randint(1, 2)

    def body(inner: Names, result: Callable[[Names], str]) -> str:
        lines = w.body(inner, r.randint(0, 1), 1, "    ") if w.chance(0.4) else []
        return "\n".join([*lines, f"    return {result(inner)}"])

    match kind:
        case "first":
            return f"@at.fn\ndef {name}(x: f64) -> f64:\n{body(at.child(numbers=['x']), lambda i: w.number(i, depth))}\n"
        case "apply":
            inner = at.child(numbers=["x"], functions=["f", "f"])
            return f"@at.fn\ndef {name}(f: F, x: f64) -> f64:\n{body(inner, lambda i: f'f({w.number(i, depth)}) + ' + w.number(i, depth))}\n"
        case "vector":
            inner = at.child(functions=["f"], arrays=["x"], sizes=["n"])
            return f"@at.fn\ndef {name}(f: F, x: f64[n]) -> f64[n]:\n    #sizes n=x\n" + body(inner, lambda i: f"[f(e) + {w.number(i.child(numbers=['e']), 1)} for e in x]") + "\n"
        case "maker":
            return f"@at.fn\ndef {name}(k: f64) -> F:\n{body(at.child(numbers=['k', 'k']), lambda i: w.function(i, depth))}\n"
        case "sized":
            return f"@at.fn\ndef {name}(x: f64[n]) -> F:\n    #sizes n=x\n" + body(at.child(arrays=["x"], sizes=["n", "n"]), lambda i: w.function(i, depth)) + "\n"
        case "compose":
            return f"@at.fn\ndef {name}(f: F, g: F) -> F:\n    return lambda v: f(g(v)) + {w.number(at.child(numbers=['v'], functions=['f', 'g']), 1)}\n"
        case "pair":
            inner = at.child(numbers=["k"])
            return f"@at.fn\ndef {name}(k: f64) -> (F, F):\n    return ({w.function(inner, 1)}, {w.function(inner, 1)})\n"
        case "recursive":
            inner = at.child(numbers=["x"], functions=["f"])
            return f"@at.fn\ndef {name}(f: F, x: f64, k: i64) -> f64:\n    if k <= 0:\n        return {w.number(inner, 1)}\n    return {name}(f, f(x), k - 1)\n"
        case "default":
            return f"@at.fn\ndef {name}(x: f64, k: f64 = {r.choice(CONSTANTS)}) -> f64:\n    return {w.number(at.child(numbers=['x', 'k', 'k']), depth)}\n"
    return f"@at.fn\ndef {name}(f: at.Fn[[a], b], x: a) -> b:\n    return f(x)\n"


KINDS = ("first", "apply", "vector", "maker", "sized", "compose", "pair", "recursive", "default", "generic")


def generate(seed: int) -> Program:
    w = Writer(seed)
    r = w.rng
    modules: list[str] = []
    libraries: list[dict[str, list[str]]] = []
    for which in ("lib", "main"):
        library: dict[str, list[str]] = {}
        if which == "main":
            for kind, names in libraries[0].items():
                library.setdefault(kind, []).extend(f"lib.{name}" for name in names)
        text = "".join(f"{name} = {r.randint(-4, 9)}.{r.choice('05')}\n" for name in CONSTANTS)
        text += "\n@at.record\nclass Held:\n    f: F\n    k: f64\n\n"
        chosen = [k for k in KINDS if w.chance(0.8 if which == "lib" else 0.35)]
        r.shuffle(chosen)
        for kind in chosen:
            name = f"{kind}_{r.choice('pq')}" if kind != "generic" else "generic_p"  # the same names in both modules, sometimes
            text += _function(w, kind, name, library, which == "lib") + "\n"
            library.setdefault(kind, []).append(name)
        modules.append(text)
        libraries.append(library)
    at = Names(["s"], [], ["x", "y"], ["n", "m"], libraries[1])
    lines = w.body(at, r.randint(1, 4), 2, "    ")
    result = f"{w.number(at, 2)} + {w.call(at, 2)}"
    modules[1] += "@at.fn\ndef use(x: f64[n], y: f64[m], s: f64) -> f64:\n    #sizes n=x m=y\n" + "\n".join([*lines, f"    return {result}"]) + "\n"
    return Program((modules[0], modules[1]), frozenset(w.classes or {"plain"}), (r.randint(2, 5), r.randint(2, 5)))


# -- the oracle: plain Python


class Dual:
    """value + slope * e, for one e; they nest."""

    __slots__ = ("slope", "tag", "value")

    def __init__(self, value: Any, slope: Any, tag: int) -> None:
        self.value, self.slope, self.tag = value, slope, tag

    def _both(self, other: Any) -> tuple[Any, Any, Any, Any, int]:
        tag = max(self.tag, other.tag if isinstance(other, Dual) else 0)
        a, da = (self.value, self.slope) if self.tag == tag else (self, 0.0)
        b, db = (other.value, other.slope) if isinstance(other, Dual) and other.tag == tag else (other, 0.0)
        return a, da, b, db, tag

    def __add__(self, other: Any) -> Dual:
        a, da, b, db, tag = self._both(other)
        return Dual(a + b, da + db, tag)

    def __sub__(self, other: Any) -> Dual:
        a, da, b, db, tag = self._both(other)
        return Dual(a - b, da - db, tag)

    def __rsub__(self, other: Any) -> Dual:
        return Dual(other - self.value, 0.0 - self.slope, self.tag)

    def __mul__(self, other: Any) -> Dual:
        a, da, b, db, tag = self._both(other)
        return Dual(a * b, da * b + a * db, tag)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> bool:
        return bool(_plain(self) < _plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(_plain(self) > _plain(other))


def _plain(x: Any) -> Any:
    while isinstance(x, Dual):
        x = x.value
    return x


_tags = iter(range(1, 1 << 60))


def _slope(f: Callable[[Any], Any], x: Any, place: int | None = None) -> Any:
    tag = next(_tags)
    moved = Dual(x, 1.0, tag) if place is None else [Dual(e, 1.0, tag) if k == place else e for k, e in enumerate(x)]
    out = f(moved)
    return out.slope if isinstance(out, Dual) and out.tag == tag else 0.0


def grad(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: [_slope(f, x, k) for k in range(len(x))] if isinstance(x, list) else _slope(f, x)


def jvp(f: Callable[[Any], Any], x: Any, dx: float) -> Any:
    return _slope(f, x) * dx


vjp = jvp  # of numbers



@dataclass
class _Held:
    f: Any
    k: Any


oracle = types.SimpleNamespace(fn=lambda f: f, record=lambda _: _Held)


def _with_sizes(text: str) -> str:
    """Each `#sizes n=x` as the assignment Python needs."""
    return "\n".join(
        line.replace("#sizes ", "").replace("=", " = len(").replace(" m", "); m") + ")" if line.strip().startswith("#sizes") else line for line in text.splitlines()
    ).replace("at.Fn[[f64], f64]", "None")


def expected(program: Program, args: tuple[Any, ...]) -> Any:
    lib = types.ModuleType("scopes_lib")
    exec(ORACLE + _with_sizes(program.texts[0]), lib.__dict__)  # noqa: S102  our own text
    main: dict[str, Any] = {"__name__": "scopes_main", "lib": lib}
    exec(ORACLE + _with_sizes(program.texts[1]), main)  # noqa: S102
    return _plain(main["use"](*(list(map(float, x)) if isinstance(x, np.ndarray) else x for x in args)))


# -- running


def arguments(program: Program, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    n, m = program.sizes
    return np.round(rng.normal(size=n), 1), np.round(rng.normal(size=m), 1), float(np.round(rng.normal(), 1))


def build(program: Program) -> Any:
    """The function to call, with the two texts as two modules."""
    import linecache
    import sys

    made = {}
    for name, text in zip(("scopes_lib", "scopes_main"), program.texts, strict=True):
        module = types.ModuleType(name)
        module.__file__ = path = f"<{name} {id(program)}>"
        whole = HEAD + text
        linecache.cache[path] = (len(whole), None, whole.splitlines(True), path)
        sys.modules[name] = module
        module.__dict__.update(made)
        try:
            exec(compile(whole, path, "exec"), module.__dict__)  # noqa: S102
        finally:
            del sys.modules[name]
        made["lib"] = module
    return made["lib"].use


def check(seed: int, compiled: bool) -> tuple[str, Program, str]:
    """'right', 'refused' with a code, or what is wrong."""
    import atoll as at

    program = generate(seed)
    args = arguments(program, seed)
    try:
        wanted = expected(program, args)
    except RecursionError:
        return "no oracle", program, ""
    if not np.isfinite(wanted) or abs(wanted) > 1e12:
        return "no oracle", program, ""
    try:
        use = build(program)
        found = use(*args) if compiled else use.interpret(*args)
    except at.Error as error:
        return f"refused {error.code}", program, str(error)
    except Exception as error:  # noqa: BLE001  whatever it is, it is a failure
        return f"crash {type(error).__name__}", program, str(error)
    if not np.allclose(found, wanted, rtol=1e-6, atol=1e-6):
        return "wrong", program, f"{found} instead of {wanted}"
    return "right", program, ""


def is_failure(outcome: str, program: Program) -> bool:
    if outcome in ("right", "no oracle", "refused E0127"):
        return False
    if outcome == "refused E1113" and "derivatives" in program.classes:  # functions that exist at run time are not differentiated, and that is said
        return False
    return not (program.may_rebind and outcome.removeprefix("refused ") in REBOUND)


def main() -> int:
    import argparse
    import time

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.scopes", description="random programs about scopes, against plain Python")
    parser.add_argument("start", type=int)
    parser.add_argument("stop", type=int)
    parser.add_argument("--compiled", action="store_true", help="run compiled code at the default optimisation, not the interpreter")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--show", action="store_true", help="print the programs")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    failures: dict[str, tuple[int, Program, str]] = {}
    begin = time.monotonic()
    for seed in range(options.start, options.stop):
        outcome, program, detail = check(seed, options.compiled)
        outcomes[outcome] += 1
        classes.update(program.classes)
        if is_failure(outcome, program):
            known = failures.get(outcome)
            if known is None or sum(map(len, program.texts)) < sum(map(len, known[1].texts)):
                failures[outcome] = (seed, program, detail)
        if options.show:
            print(*program.texts, outcome, sep="\n")
        if options.seconds and time.monotonic() - begin > options.seconds:
            break
    print(f"{outcomes.total()} programs:", ", ".join(f"{k} {v}" for k, v in outcomes.most_common()))
    print("per class:", ", ".join(f"{k} {v}" for k, v in classes.most_common()))
    for outcome, (seed, program, detail) in failures.items():
        print(f"\n== {outcome}: seed {seed}: {detail}", *program.texts, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
