"""A library for machines without a compiler and without Atoll: `atoll build --shared`.

The programs, the runtime and the products of matrices they need are one shared object; beside it stands a stub, a Python file that needs only NumPy: the text of
runtime/deployed.py, a table of what the functions take and give, and one `def` for each. The object is made for a kind of processor that is named, not
for the one it is made on; the stub asks whether the processor at hand is of that kind before it calls anything.
"""

from __future__ import annotations

import platform
import pprint
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atoll.backends.c.c_names import safe_symbol
from atoll.backends.c.jit import Generated, generate
from atoll.backends.c.written import check_place, write_files
from atoll.core import ir as core
from atoll.core.binding import plan
from atoll.core.needs import needs_functions
from atoll.errors import fail, make
from atoll.errors.base import Error
from atoll.lower.make import compiled_loops
from atoll.runtime.probes import mending
from atoll.runtime.program import _print_to_json
from atoll.runtime.toolchain import compiler, patience, run_compiler, started
from atoll.sizes import Atom, Poly, Quot
from atoll.sizes.describe import condition
from atoll.types.types import Index, Record, Scalar, Tuple, Type, array, dtype_of, flatten, shape_of

_NATIVE = Path(__file__).parent / "native"
_DEPLOYED = Path(__file__).parent / "deployed.py"
FEATURES = {
    "__AVX512F__": "avx512f", "__AVX512BW__": "avx512bw", "__AVX512CD__": "avx512cd", "__AVX512DQ__": "avx512dq", "__AVX512VL__": "avx512vl",
    "__AVX2__": "avx2", "__FMA__": "fma", "__BMI2__": "bmi2", "__AVX__": "avx", "__SSE4_2__": "sse4.2", "__POPCNT__": "popcnt",
}  # fmt: skip
_HOLE = 880_000_017  # numbers that stand for values in a message


def usual_cpu() -> str:
    """The kind of processor that libraries are for: on x86-64 those since 2013 or so, elsewhere what the compiler takes for granted."""
    return "x86-64-v3" if platform.machine() in ("x86_64", "AMD64") else ""


def build_shared(functions: Sequence[Any], stem: str, folder: object, cpu: str | None = None, overwrite: bool = False) -> list[Path]:
    """Write libSTEM.so and STEM.py for some functions; returns their paths."""
    cpu = usual_cpu() if cpu is None else cpu
    name = safe_symbol(stem)
    made = [(f, *_generated(f)) for f in functions]
    place = check_place(folder, [f"{name}.py"], overwrite)  # the library is its own when the stub is
    text = "\n".join(g.text for _, _, g in made)
    products = [k for k in (0, 1) if f"at_rt->product(at, &at_p, {k})" in text]
    with tempfile.TemporaryDirectory() as work:
        features = _compile(Path(work), [g.text for _, _, g in made], products, cpu)
        table = {
            "cpu": cpu or platform.machine(),
            "features": features,
            "products": products,
            "records": _records([c for _, c, _ in made]),
            "functions": [_function(c, g) for _, c, g in made],
        }
        stub = _stub(name, table, [f for f, _, _ in made])
        write_files(place, {f"{name}.py": stub}, overwrite)
        (place / f"lib{name}.so").write_bytes((Path(work) / "library.so").read_bytes())
    return [place / f"lib{name}.so", place / f"{name}.py"]


def _generated(f: Any) -> tuple[core.Function, Generated]:
    fn = f.core
    if needs_functions(fn):
        fail("E0835", name=fn.name, what="recursion, unions or functions that are values, which run on a heap of their own")
    for _, t in (*fn.params, (None, fn.result)):
        for _, leaf in flatten(t):
            if not isinstance(shape_of(leaf)[1], (Scalar, Index)):
                fail("E0835", name=fn.name, what=f"values of type {leaf!r}")
    return fn, generate(fn, compiled_loops(fn))


def _compile(work: Path, texts: list[str], products: list[int], cpu: str) -> list[str]:
    """Make the object; returns what a processor must have."""
    cc = compiler()
    march = [f"-march={cpu}"] if cpu else []
    usual = [flag for flag in cc.flags("3") if flag not in ("-shared", "-march=native", "-O3")]
    features: list[str] = []
    if cpu:
        status, macros = started([*cc.command, *march, "-dM", "-E", "-xc", "/dev/null"], cc.patience)
        if status != 0:
            fail("E0836", cpu=cpu, compiler=" ".join(cc.command))
        features = [word for macro, word in FEATURES.items() if f"{macro} " in macros] if platform.machine() in ("x86_64", "AMD64") else []
    tests = "".join(f'    if (!__builtin_cpu_supports("{word}")) return {k};\n' for k, word in enumerate(features))
    asks = "    __builtin_cpu_init();\n" if features else ""
    (work / "cpu.c").write_text(f"int atoll_missing(void) {{\n{asks}{tests}    return -1;\n}}\n")
    jobs: list[tuple[str, Path, list[str]]] = [("cpu", work / "cpu.c", ["-O1"]), ("runtime", _NATIVE / "runtime.c", ["-O2", f"-I{_NATIVE}", *march])]
    for k in products:
        renamed = [f"-D{name}={name}_{k}" for name in ("atoll_product_init", "atoll_set_blas", "atoll_product")]
        jobs.append((f"product{k}", _NATIVE / "product.c", ["-O2", f"-I{_NATIVE}", "-ffp-contract=fast", f"-DELEMENTS={1 + k}", *renamed, *march]))
    for k, text in enumerate(texts):
        (work / f"f{k}.c").write_text(text)
        renamed = [f"-Datoll_{name}=f{k}_{name}" for name in ("init", "entry", "prepare", "has_products")]
        jobs.append((f"f{k}", work / f"f{k}.c", ["-O3", *renamed, *march, *mending(cc, "3")]))
    objects = []
    for name, source, options in jobs:
        objects.append(work / f"{name}.o")
        run_compiler(cc, [*cc.command, *usual, *options, "-c", "-o", str(objects[-1]), str(source)], objects[-1], patience())
    output = work / "library.so"
    run_compiler(cc, [*cc.command, "-shared", "-o", str(output), *map(str, objects), "-lm", "-lpthread"], output, patience())
    return features


# -- the table


def _function(fn: core.Function, generated: Generated) -> dict[str, Any]:
    names: dict[Atom, str] = {sym: f"s[{k}]" for k, sym in enumerate(fn.sizes)}
    leaf_at: dict[tuple[int, int], int] = {}
    whole: list[tuple[int, int]] = []
    indices: list[tuple[int, str, str]] = []
    for k, (sym, t) in enumerate(fn.params):
        if isinstance(t, Index) or getattr(getattr(t, "dtype", None), "name", "") == "i64":
            names[sym] = f"v[{k}]"
            whole.append((k, len(leaf_at)))
        for leaf in range(len(flatten(t))):
            leaf_at[(k, leaf)] = len(leaf_at)
    for k, (_, t) in enumerate(fn.params):
        for leaf, (_, leaf_type) in enumerate(flatten(t)):
            elem = shape_of(leaf_type)[1]
            if isinstance(elem, Index):
                indices.append((leaf_at[(k, leaf)], _text(elem.size, names), repr(elem)))
    steps = []
    for step in plan(fn):
        single = step.poly.single()
        steps.append({
            "leaf": leaf_at[(step.place.param, step.place.leaf)], "axis": step.place.axis, "poly": _text(step.poly, names), "text": str(step.poly),
            "single": fn.sizes.index(single) if single in fn.sizes else None,
            "solves": None if step.solves is None else fn.sizes.index(step.solves),
            "factor": _text(step.factor, names), "rest": None if step.rest is None else _text(step.rest, names),
        })  # fmt: skip

    return {
        "name": fn.name,
        "params": [{"name": sym.name, "type": _type(t)} for sym, t in fn.params],
        "sizes": [sym.name for sym in fn.sizes],
        "whole": whole,
        "steps": steps,
        "requires": [(_text(need.poly, names), f"{need.text} (line {need.span.line}) needs {condition(need.poly)}") for need in fn.requires],
        "indices": indices,
        "result": _type(fn.result),
        "results": [(dtype_of(shape_of(t)[1]).numpy_name, len(shape_of(t)[0])) for _, t in flatten(fn.result)],
        "sites": [_site(site, kinds) for site, kinds in zip(generated.sites, generated.kinds, strict=True)],
        "values": max(map(len, generated.kinds), default=0),
        "prints": [_print_to_json(p) for p in generated.prints],
    }


def _text(p: Poly, names: dict[Atom, str]) -> str:
    """A polynomial as a Python expression."""

    def atom(a: Atom) -> str:
        return f"(({_text(a.num, names)}) // ({_text(a.den, names)}))" if isinstance(a, Quot) else names[a]

    return " + ".join(" * ".join([f"({coef})", *map(atom, mono)]) for mono, coef in p.terms.items()) or "0"


def _type(t: Type) -> dict[str, Any]:
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        items = [_type(array(item, sizes)) for item in elem.items]
        if isinstance(elem, Record):
            return {"kind": "record", "name": elem.decl.name, "fields": list(elem.decl.fields), "items": items}
        return {"kind": "tuple", "items": items}
    return {"kind": "array" if sizes else "scalar", "dtype": dtype_of(elem).numpy_name, "rank": len(sizes), "shown": repr(t)}


def _records(functions: list[core.Function]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}

    def visit(t: Type) -> None:
        _, elem = shape_of(t)
        if isinstance(elem, Record) and found.setdefault(elem.decl.name, list(elem.decl.fields)) != list(elem.decl.fields):
            fail("E0835", name=elem.decl.name, what="two records of one name")
        for item in elem.items if isinstance(elem, (Tuple, Record)) else ():
            visit(item)

    for fn in functions:
        for t in (*(t for _, t in fn.params), fn.result):
            visit(t)
    return found


def _site(site: Any, kinds: str) -> dict[str, Any]:
    """A message with holes for the values that only a run knows."""
    values = dict(site.values)
    holes: list[tuple[str, int, str, str]] = []
    if "poly" in values:
        values["need"] = condition(values.pop("poly"))
    names = values.pop("args", ())
    if site.code == "E0709":
        known = []
        for k, name in enumerate(values["names"]):
            holes.append((str(_HOLE + k), k, "", ""))
            known.append(f"{name} is {_HOLE + k}")
        error = make("E0709", name=site.where, what=values["what"], line=site.span.line, need=f"{values['need']}, but {' and '.join(known)}")
    else:
        if template := values.pop("template", ()):
            text = ""
            for part in template:
                if isinstance(part, str):
                    text += part
                else:
                    position, spec, of = part
                    hole = str(_HOLE + len(holes))
                    holes.append((hole, position, spec, of.dtype.numpy_name))
                    text += hole
            values["text"] = text
        for k, name in enumerate(names):
            values[name] = _HOLE + 1000 * (k + 1)
            holes.append((str(values[name]), k, "", ""))
        error = make(site.code, site.span, where=site.where, **values)
    return {"text": str(error), "class": _python_class(error), "code": site.code, "kinds": kinds, "holes": holes}


def _python_class(error: Error) -> str:
    """The class of Python's own that an error also is."""
    found = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins" and c.__name__ not in ("Exception", "BaseException", "object")]
    return next((name for name in found if name != "RuntimeError"), "RuntimeError")


# -- the stub


def _stub(name: str, table: dict[str, Any], functions: list[Any]) -> str:
    deployed = _DEPLOYED.read_text()
    body = deployed.partition("from __future__ import annotations\n")[2]
    names, library = [f.name for f in functions], f"lib{name}.so"
    lines = [
        f'"""{name}: {", ".join(names)}. Generated by Atoll (atoll build --shared): calls lib{name}.so, which stands beside it, and needs NumPy only."""',
        "",
        "from __future__ import annotations",
        body,
        "",
        f"_library = Library(os.path.join(os.path.dirname(os.path.abspath(__file__)), {library!r}), {pprint.pformat(table, width=150, sort_dicts=False)})",
        "set_threads = _library.set_threads",
        *(f"{record} = _library.records[{record!r}]" for record in table["records"]),
    ]
    for k, f in enumerate(functions):
        heads: list[str] = []
        params = f.signature.params
        defaults = f._defaults
        for place, p in enumerate(params):
            if p.given == "name" and (place == 0 or params[place - 1].given != "name"):
                heads.append("*")
            if p.name in defaults and not isinstance(defaults[p.name], (bool, int, float, complex)):
                fail("E0835", name=f.name, what=f"a default of {p.name} that is no number")
            heads.append(f"{p.name}={defaults[p.name]!r}" if p.name in defaults else p.name)
            if p.given == "position" and (place + 1 == len(params) or params[place + 1].given != "position"):
                heads.append("/")
        given = [p.name for p in params]
        doc = f.type
        more = f"\n\n{f.__doc__}" if getattr(f, "__doc__", None) else ""
        lines += ["", "", f"def {f.name}({', '.join(heads)}):", f"    {(doc + more)!r}", f"    return _library.call({k}, ({''.join(g + ', ' for g in given)}))"]
    lines += ["", "", f"__all__ = {['Error', 'set_threads', *table['records'], *names]!r}", ""]
    return "\n".join(lines)


__all__ = ["build_shared", "usual_cpu"]
