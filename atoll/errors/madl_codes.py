"""The error codes of MADL, E09xx. Titles are the thesis' own words where it prints them."""

from __future__ import annotations

from atoll.errors import base as b

_P, _T, _S, _C, _R, _O = b.ParseError, b.TypeError, b.SizeError, b.CompileError, b.RunError, b.ScheduleError
_A, _L, _I = b.CausalityError, b.LocationError, b.InitialisationError

ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    # -- text, names, arity
    ("E0900", _C, "MADL needs the package lark", "pip install 'atoll[madl]'", "The parser of .madl files is made with lark, which is installed with the extra `madl`."),
    ("E0901", _P, "{what}", "", "The text is not a MADL program. docs/madl.md has the grammar."),
    ("E0902", _P, "Undefined variable {name}", "", "A variable is defined by an equation of its scope or an enclosing one. What a `forward` returns must pass through [..] (all elements) or {..} (the final value); an `init` sees only what is outside the scope that restarts."),
    ("E0903", _P, "Undefined operator {name}", "define it above its first use, or import it", "Operators are used after they are defined; `let rec` makes an operator visible in its own body."),
    ("E0904", _P, "Undefined {what} {name}", "declare it: (size {name}) or (type {name}) or (data {name}), or write '{name}", "Sizes, types and places have names of their own. An undeclared one is written 'name."),
    ("E0905", _T, "{what}: {given} where {wanted} are expected", "", "A group `a, b` is wiring: it connects as many values as were written."),
    ("E0906", _P, "{name} is defined twice", "", "A flow has one definition. Use `as` for a second name, `init` and `last` for values that change."),
    ("E0907", _P, "Too many iteration levels", "", "Nested brackets in an interface stand for nested dimensions of the `forward`; there are fewer dimensions than brackets."),
    ("E0908", _P, "{what} cannot stand in a pattern", "", "On the left of `=` stand variables, `_`, tuples, arrays and operators that are bijective rearrangements (patt)."),
    ("E0909", _P, "{what} stands outside the interface of a forward", "", "[e] (element) and {e} (accumulator) connect the inside of a `forward` with its outside."),
    # -- types and sizes
    ("E0910", _T, "This expression has type {first} but an expression of type {second} was expected", "", "Types and sizes of both sides must be the same."),
    ("E0911", _S, "a size equation is left over: {left} = {right}", "add a size: <<..>> or `of [..]_`", "Sizes are found by solving for one unknown at a time and never guessed: n*k = 4 has three solutions."),
    ("E0912", _S, "Unconstrained size", "add a size: <<..>> or `of [..]_`", "A size that occurs in no argument, result or <<..>> of the operator would be free to choose."),
    ("E0913", _S, "{what} may have a negative size: {size}", "", "Inside a loop the size of an array must be provably >= 0 for every value of the index."),
    ("E0914", _S, "{name}: {what} has size {size}, which is negative", "", "Sizes are polynomials; when they become numbers every array must have a size >= 0."),
    ("E0915", _T, "the operation {op} is not defined for {shown}", "convert with f64(..), f32(..), i32(..), ..", "Scalar operations take numbers of one type. Nothing is converted silently."),
    ("E0916", _T, "the type of {what} is not known", "add a type: `of [_]f64`", "Code is made for one type; nothing in the program says which."),
    ("E0917", _T, "{name} is no field of {shown}", "", "Records are declared with `type name = { field of t, .. }`."),
    ("E0918", _S, "index {index} of {what} is not proved to lie in 0..{high}", "use a loop index, or an index of type idx<<n>>: clamp<<n>>(k), wrap<<n>>(k)", "MADL makes no checks at run time, so every index is proved: it is a polynomial of sizes and loop indices, or a value of type idx<<n>>."),
    ("E0929", _T, "{value} does not fit {shown}", "use a wider type", "A number in the text takes the type of what it meets, and must be one of its values."),
    ("E0919", _S, "abstract size would escape its scope", "", "The index of a loop as a size makes sense in the loop only: there are no ragged arrays."),
    # -- causality, initialisation
    ("E0920", _A, "Non causal definition of {name}", "use `last` to break the cycle", "A value may not depend on itself within a cycle. Arrays, tuples, operators and loops need all their inputs before they give any output."),
    ("E0921", _I, "Uninitialized last", "", "`last` and {..} read a memory that no `init` has written. Initial values pass through everything that only rearranges, in both directions, and stop at copies and operations."),
    ("E0922", _I, "Conflicting initialization", "remove one of them", "A memory has one initial value."),
    ("E0923", _I, "Initialization of aggregated element", "initialise the whole array outside the loop, or copy the element: [!x]", "State is one memory that lives from one round to the next; the elements of an array are many. A value cannot be both."),
    # -- kinds
    ("E0925", _P, "{name} is declared {declared}, but {why}", "", "patt: rearranges without losing or repeating anything, so it can be read both ways. view: rearranges. func: computes. node: has state."),
    # -- places
    ("E0930", _L, "Invalid locations", "", "No layout of the memory satisfies the program: `=`, arrays, ++ and views say where values lie, and nothing is copied unless `!` says so."),
    ("E0931", _L, "Non-injective write", "", "A view that shows one cell twice (window, repeat) can be read but not written."),
    ("E0932", _L, "Non surjective function in pattern", "", "A pattern must say where every part of the value comes from."),
    ("E0933", _L, "Overlapping copy", "copy twice: !!, which goes through a memory of its own", "The source and the target of a copy are the same place or places that do not overlap."),
    ("E0934", _L, "Modified location aliased", "", "An operator that writes one of its memories must not be given another one that overlaps it. For in-place use, write a version of it with `at 'l` on both sides."),
    ("E0935", _L, "Iteration interference", "", "A round of a loop overwrites what another round still needs."),
    ("E0936", _L, "Non-single piece location", "", "A compiled operator takes one address per array, so an array it is given must lie in one piece."),
    ("E0937", _L, "Invalid built array", "", "`as` names the part of an array that is already built; it must lie in one piece, next to the elements under construction."),
    ("E0938", _L, "abstract location would escape its scope", "", "The index of a loop lives in the loop only; copy it to keep it."),
    ("E0939", _L, "{what} depends on a value that is only known when the program runs", "copy it out: !{text}", "Places are fixed before the program runs."),
    ("E0940", _O, "no order of execution works", "", "Every value must be read before its memory is overwritten. `!!` saves a value in a memory of its own."),
    ("E0941", _L, "the arguments {first} and {second} share memory", "", "The caller writes both arguments before the cycle, so they need places of their own."),
    ("E0942", _L, "{name} needs a workspace of size {size}, which depends on a loop index", "", "A memory inside a loop has a size that is fixed before the loop starts."),
    ("E0943", _P, "{what} has no effect", "", "A statement is an equation, or says something about a value: its type, its place, its first value. One that only computes is mostly a typo: `==` for `=`, a forgotten operator or `;`."),
    ("E0970", _P, "match: {what}", "", "A match has one case for every value of what it looks at: labels are constants of one type, each stands once, and `else` takes what is left."),
    ("E0971", _P, "automaton: {what}", "", "An automaton is in one state per cycle. `unless` and `until` stand in the bodies of its states and name states of the same automaton."),
    ("E0972", _P, "foreach: {what}", "", "In a foreach every element has state of its own, which lives from cycle to cycle."),
    # -- recursion, imports
    ("E0950", _P, "the size of a recursive call must be a number", "write it: {name}<<n/2>>(..)", "An operator made with `let rec` is expanded for each size it is used at, so sizes must be numbers when it is used."),
    ("E0951", _P, "{name} does not end: {why}", "give it a case that does not call itself: if n == 1 then .. else .. end", "A recursive operator is expanded for each size it is used at."),
    ("E0952", _P, "{file}: {why}", "", "`import \"file.py\": name` takes Atoll functions from a Python file."),
    ("E0973", _T, "{name} cannot be used in a function: {why}", "call it from Python, or write that part as an Atoll function", "Inside @at.fn stand operators of MADL without state whose loops mean the same there: no records, fixed point, indices (idx, clamp, wrap) and no `let rec`."),
    ("E0953", _T, "{name} cannot be used in MADL: {why}", "", "Code made from MADL does not allocate and cannot fail, so neither may the functions it calls."),
    # -- from Python, compiling
    ("E0960", _T, "{name}: {text}", "", "Operators are called with NumPy arrays or numbers of the types in their signature."),
    ("E0961", _S, "{name}: {text}", "", "Sizes are measured on the arguments before any code runs; sizes that occur in no argument are given by name."),
    ("E0962", b.RunIndexError, "{name}: argument {arg} is {value}, which is not in 0..{high}", "", "An argument of type idx<<n>> is checked when the operator is called."),
    ("E0963", _T, "{name} has type variables, so there is no code for it alone", "add a type: `of [_]f64`, or use it from an operator that has types", "Code is made for one type."),
    ("E0964", _T, "{name} has {which} state; {text}", "", "An operator with state is called to make an instance, which has .step(..) and .reset()."),
    ("E0966", b.RunAssertionError, "{name}: {kind} {text} does not hold", "", "Contracts are checked when a program is interpreted (`interpret=True`, `atoll run --in`), in every cycle and every round; they have no code."),
    ("E0965", _C, "{name}: {text}", "", "No C can be made for this operator."),
]
