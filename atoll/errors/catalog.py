"""Every error code: its class, its first line, its usual suggestion, and the longer story `atoll explain CODE` tells.

    E01xx  text and names      E02xx  types and ranks     E03xx  sizes            E04xx  memory and modes
    E05xx  schedules           E06xx  calls from Python   E07xx  running          E08xx  compiling, cache, tools
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from atoll.errors import base as b
from atoll.errors.derivative_codes import ROWS as _DERIVATIVE_ROWS
from atoll.errors.device_codes import ROWS as _DEVICE_ROWS
from atoll.errors.distribution_codes import ROWS as _DISTRIBUTION_ROWS
from atoll.errors.function_codes import ROWS as _FUNCTION_ROWS
from atoll.errors.futhark_codes import ROWS as _FUTHARK
from atoll.errors.madl_codes import ROWS as _MADL
from atoll.errors.schedule_codes import ROWS as _SCHEDULE_ROWS


@dataclass(frozen=True, slots=True)
class Code:
    code: str
    cls: type[b.Error]
    title: str
    help: str
    story: str

    def describe(self) -> str:
        """What `atoll explain` prints: the message with its holes named, the story, the usual remedy."""
        parts = [f"{self.code} ({self.python_class}): {_holes(self.title)}", self.story]
        if self.help:
            parts.append(f"Usual remedy: {_holes(self.help)}")
        return "\n\n".join(part for part in parts if part)

    @property
    def python_class(self) -> str:
        """The class to catch, as the user writes it: at.RunError (IndexError)."""
        cls = self.cls
        if cls.__name__.startswith("Run") and cls is not b.RunError:
            return f"at.RunError, {cls.__name__.removeprefix('Run')}"
        return f"at.{cls.__name__}"


def _holes(text: str) -> str:
    """A message with its holes as words: {what} is shown as ‹what›."""
    return re.sub(r"\{(\w+)(!r)?\}", r"‹\1›", text).replace("{{", "{").replace("}}", "}")


_P, _T, _S, _C, _R = b.ParseError, b.TypeError, b.SizeError, b.CompileError, b.RunError

_ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    # -- text and names
    ("E0101", _P, "{what} is not part of Atoll", "", "An Atoll body is a pure function written in a subset of Python. Statements that have effects (`del`, `global`, `try`, `with`, `yield`) are refused by name; the suggestion says what to write instead."),
    ("E0102", _P, "the annotation {text!r} is not an expression", "write a type, for example f32[n]", "An annotation may be written as a string; the string must then be a Python expression that spells a type."),
    ("E0103", _P, "the text of {name} cannot be found (looked in {file})", "pass the text itself: at.fn(source=text)", "Atoll reads the text of a function, it never traces it. Python does not keep it for text given to exec, for programs piped into the interpreter, or for a .pyc without its .py file; and a file that has been edited since it was imported no longer holds it. at.fn(source=text) takes the text of a module and returns its last function."),
    ("E0104", _P, "the text given with source= is not Python: {message}", "mend the line shown: Python does not read this text either", "at.fn(source=text) takes the text of a whole module, with its imports; Python's own message says what is wrong with it."),
    ("E0105", _P, "the name {name} is not defined here", "bind it before this line, or import it", "Names are looked up as in Python: the function's own names, those around it, the module's globals, then Atoll's built-in names."),
    ("E0106", _P, "{name} is {found}, which an Atoll function cannot use", "pass it as an argument", "A function may capture other Atoll functions and constants: numbers, tuples of numbers, NumPy arrays, also as parts of classes, enumerations and dataclasses. Constants are frozen when the function is first compiled."),
    ("E0107", b.CompileError, "{name} means something only inside a function decorated with @at.fn", "call it in a body, or use NumPy's own function here", "Built-in names such as at.map or at.exp are part of the language. From plain Python, call NumPy, or wrap the expression in an @at.fn function."),
    ("E0108", _P, "{module}.{name} has no meaning in Atoll", "see docs/reference.md for the functions there are", "A dotted name into math, numpy or operator that Atoll knows is that function or constant; others are refused rather than guessed."),
    ("E0109", _P, "Python's {name} has no meaning in Atoll", "see docs/reference.md for the functions there are", "Only those of Python's built-in functions that make sense on arrays are part of the language."),
    ("E0110", _P, "{name} may be unbound here: only some paths bind it (line {line})", "give {name} a value before the `if` or the loop", "A name that is first bound inside a loop or in one branch of an `if` has no value when that code does not run."),
    ("E0113", _P, "`return` without a value", "return the result", "Every Atoll function returns a value."),
    ("E0114", _P, "some path through this {what} ends without `return`", "{more}", "When one branch returns, the rest of the body is the other branch; it must return too. A loop may run to its end without returning, so something is returned after it."),
    ("E0115", _P, "this expression is computed and thrown away", "assign it to a name, return it, or remove it", "A statement that is only an expression has no effect in a pure function. print(...) is the exception."),
    ("E0116", _T, "{name} is {found}, which cannot be carried by a loop", "pass functions as arguments instead of rebinding them in a loop", "Loop state consists of run-time values: numbers, arrays, tuples, records."),
    ("E0117", _T, "{name} changes its type in the loop", "give {name} its final type before the loop, for example {name}: f64 = ...", "A loop carries each name with one type and one size. A literal first value takes the type the loop gives it; anything else must already have it."),
    ("E0118", _P, "the parameter {name} has no type", "annotate it, for example {name}: f64[n]", "Parameters of a top-level function are annotated; results and everything inside may be left to inference."),
    ("E0119", _P, "the type or size {name} is not defined", 'declare sizes with {name} = at.sizes("{name}")', "Sizes are declared like SymPy's symbols: n, m = at.sizes(\"n m\"). One name gives one size everywhere."),
    ("E0120", _T, "{name} calls itself", "make it a top-level @at.fn function with an annotated result", "A local function is expanded where it is called, so it cannot call itself."),
    ("E0121", _P, "{name} ends without `return`", "return the result", "Atoll functions are pure: what is not returned is lost. Updating a parameter rebinds the local name only; return it."),
    ("E0122", _P, "{name} uses {captured}, which has been rebound since {name} was defined", "define {name} after the last change of {captured}, or keep the value it has here as a default: {captured}={captured}", "A local function captures names by value at its `def`. Python would see the new value; Atoll refuses, so that both readings cannot differ."),
    ("E0123", _T, "{name} calls itself, so its result needs a type", "annotate the result: def {name}(...) -> f64:", "The result of a recursive function cannot be inferred from its own body."),
    ("E0124", _P, "too many branches return only sometimes", "compute the result in a variable and return it once", "After an `if` that returns on some paths only, the rest of the body is copied into the others. A long chain of those would copy it exponentially often."),
    ("E0125", _P, "at.fn takes a Python function, not {found}", "", "Use it as a decorator: @at.fn above a def."),
    ("E0126", _P, "the text given with source= defines no function", "write a `def` in it; the last one is returned", "at.fn(source=text) returns the last function of the text."),
    ("E0127", _C, "{name} is expanded more than {limit} here", "make the functions top-level @at.fn functions without function parameters: those are called, not expanded", "A local function, and a function that takes or returns functions, is expanded where it is called. Functions that call each other twice double the program each time, so there is a limit to how often and how deep."),
    ("E0128", _P, "{name} is used before it is bound", "bind {name} above this line, or give it another name than the one outside", "A name that a function assigns anywhere is its own name everywhere in it, as in Python; what the module calls so is not seen."),
    ("E0129", _C, "the program is nested too deeply", "give parts of it names, and write long chains as loops or reductions", "Expressions, blocks and calls inside each other may be some ten thousand deep; this is more."),
    ("E0130", _T, "this value has more than {limit} parts", "keep values of one kind in an array", "Every part of a tuple or record is a value of its own in the compiled program. Tuples of tuples of tuples double with each level."),
    ("E0131", _T, "this loop returns a value of type {found}, whose size is known only inside the loop", "put the value into an array whose size is known before the loop, and return that and its length", "A `return` in a loop keeps its value until the loop has ended, so its size must be known before: there are no arrays whose size depends on the round."),
    # -- types and ranks
    ("E0132", _T, "the default of {name} does not fit its type {type}", "give a default of that type, or declare another one", "A default is looked at when the function is made, as its type is."),
    ("E0201", _T, "{what} does not have the expected type", "", "Values change type by themselves only where an operator would change it anyway: integers to floats, narrow to wide. Everything else is written: f32(x), i64(x)."),
    ("E0202", _T, "{what} have different types: {first} and {second}", "convert one of them", "The branches of an `if`, the items of a display and the parts of a concat have one common type."),
    ("E0203", _T, "{what} needs numbers or arrays of numbers", "take tuples and records apart first: a, b = t", "Operators and scalar functions work on numbers and lift over arrays of numbers. Tuples and records are taken apart first."),
    ("E0204", _T, "`{op}` does not combine {first} and {second}", "convert one side", "A u64 and a signed integer have no common type that holds both; complex numbers have no floor division."),
    ("E0205", _T, "`{op}` needs integers or bools", "use `and`, `or`, `not` for conditions, or convert with i64(...)", "Bit operators and shifts work on integers; on bools & | ^ ~ are the logical operators that lift."),
    ("E0206", _T, "complex numbers have no order, so `{op}` does not apply", "compare abs(x), x.real or x.imag", "Only == and != compare complex numbers."),
    ("E0207", _T, "{what} needs one condition", "use any(...) or all(...) for an array, or where(c, x, y) to choose elementwise", "`if`, `while`, `and`, `or` and `not` decide about one bool. On arrays, & | ^ ~ lift and where(...) chooses elementwise."),
    ("E0208", _T, "{what} needs a bool", "compare: x != 0", "Where only the truth counts, in `if`, `while`, `not` and the like, a number is true when it is not 0. The value of `a and b` is one of the operands in Python; in Atoll both are bools."),
    ("E0209", _T, "{what} is not defined for {found}", "convert the argument first: x.real, abs(x), f64(x)", "Most scalar functions take floats; integers become f64. Some are defined for complex numbers too."),
    ("E0210", _T, "a complex number does not become {dtype}", "take x.real or abs(x)", "Dropping the imaginary part must be written."),
    ("E0211", _P, "{text} is not a type", "write a type such as f32[n, m], (f64, i64) or a record", "Types are scalars (f32, i64, at.bool_), arrays t[n, m], tuples (t, u), records, functions at.Fn[[t], r] and type variables."),
    ("E0212", _T, "{value} does not fit {dtype}", "use a wider type", "A literal takes the type of what it meets; one that does not fit that type is an error instead of wrapping around."),
    ("E0213", _T, "{what} must be an integer", "convert with i64(...)", "Sizes, bounds and shapes are integers."),
    ("E0215", _T, "there is no value of type {found} to stand in", "", "Where a condition fails a value nobody looks at stands in; functions have none."),
    ("E0216", _T, "this cannot be indexed", "index arrays and tuples only", "Arrays are indexed by integers and slices, tuples by a literal number."),
    ("E0217", _T, "index {index} is out of range for a tuple of {size}", "count from 0", "A tuple has as many items as were written."),
    ("E0218", _T, "a tuple is indexed by one literal number", "unpack it: a, b = t", "The items of a tuple have different types, so the index must be known."),
    ("E0219", _T, "{what} is not supported", "", "None in an index makes a new axis, which is there to be read; an assignment repeats its value along leading axes by itself."),
    ("E0220", _T, "{text} is a type, not a value", "call it to convert or to make a value: f64(x)", "In a body a scalar type is a conversion f32(x) and a record is a constructor P(x=1.0)."),
    ("E0221", _T, "{count} indices for {rank}", "give one index per axis at most", "An index has at most one item per axis."),
    ("E0222", _T, "an index must be an integer", "convert with i64(...)", "Arrays are indexed by integers, slices or arrays of integers."),
    ("E0223", _T, "a step must not be 0", "write another step: x[::-1] goes backwards", "A range or slice that does not move would never end. A step that is 0 only when the program runs is a division by zero there."),
    ("E0224", _P, "this cannot be assigned to", "assign to a name, an element or a field", "An assignment rebinds a name; a[i] = v, a[i, :k] = v and p.x = v rebind a and p."),
    ("E0225", _T, "only an array of literal size can be unpacked", "index it instead", "Unpacking needs to know how many parts there are."),
    ("E0226", _T, "this cannot be unpacked", "unpack a tuple, a record, or an array of literal size", "Tuples, records and arrays of literal size can be unpacked."),
    ("E0227", _T, "{count} names for {found} values", "write {found} names", "Unpacking needs one name per value."),
    ("E0228", _T, "this cannot be stored in an array", "store a number, a tuple or a record", "Arrays hold numbers, tuples and records."),
    ("E0229", _T, "{record} has no field {name}", "it has {fields}", "Fields are those declared in the @at.record class."),
    ("E0230", _T, "there is no attribute {name} here", "arrays have .shape .ndim .size .dtype .T .real .imag and NumPy's methods, such as x.sum(axis=0) and x.reshape(n, m)", "Arrays have .shape, .ndim, .size, .dtype, .T, .real and .imag and the methods of docs/for_numpy_users.md; records have their fields."),
    ("E0231", _T, "a generator is used where a value is needed", "write [...] for an array, or put it into sum, min, any, ...", "A generator expression has no value of its own; a reduction consumes it."),
    ("E0232", _T, "a value is needed here", "call it, or write the value that is meant", "Functions, types and modules are known at compile time and cannot be stored or returned as data."),
    ("E0233", _T, "an empty display has no type", "build the array at once, [e for i in range(n)], or write zeros(0, dtype=f64)", "The type of an array comes from its items."),
    ("E0234", _T, "this cannot be iterated over", "go over a range, an array, zip(...) or enumerate(...)", "Loops and comprehensions go over ranges, arrays, zip, enumerate and reversed."),
    ("E0235", _T, "{name} takes {expected}, not {found}", "give as many as it takes", "Arguments are given to parameters as in Python: by position, by name, or left to a default."),
    ("E0236", _T, "{name} has no parameter {keyword}", "look for a spelling mistake", "Keyword arguments name a parameter of the function; a parameter before a / in a def is given by position only."),
    ("E0237", _T, "{name} is missing its argument {missing}", "add {missing}", ""),
    ("E0238", _T, "{name} needs an array", "give an array; repeat(x, n) makes one of a number", ""),
    ("E0239", _T, "this is not a function", "write [...] where an element is meant", "Functions are other @at.fn functions, local functions, lambdas, built-in names and types."),
    ("E0240", _T, "the argument {name} of {fn} must be a function", "pass a function, a lambda, or an operator such as add", ""),
    ("E0241", _T, "the type variable {name} of {fn} would be both {first} and {second}", "convert one of the arguments", "All parameters that mention a type variable agree on it at each call."),
    ("E0242", _T, "this pattern does not fit the value", "write a pattern of the form the value has", "Patterns follow the structure of the value: numbers, tuples, records."),
    ("E0243", _T, "the type variable {name} occurs in the result only", "use it in a parameter", "What a type variable stands for is decided by the arguments."),
    ("E0244", _T, "{name} returns a function", "return a value, or make it a local function", "A function called from Python returns numbers, arrays, tuples or records."),
    ("E0245", _P, "at.bound(n) belongs in the condition of a while", "write `while at.bound(n) and condition:`", "It says that the loop has at most n rounds; one more is an error."),
    ("E0246", _T, "dtype must be a scalar type", "write dtype=f32", ""),
    ("E0247", _T, "{name} needs a function first", "put the function first: {name}(f, ...)", "map, reduce, scan, fold, filter and hist take the function first, then the data."),
    ("E0248", _T, "unzip needs an array of tuples", "make one with zip(xs, ys)", ""),
    ("E0249", _T, "axis {axis} does not exist in an array of {rank} axes", "count axes from 0", "Axes are counted from 0, or from -1 backwards, and are literal."),
    ("E0251", _T, "{name} needs one axis of real numbers as keys", "use key= for other elements", "Keys are integers, floats or bools."),
    ("E0252", _T, "{name} over a generator needs exactly one `for`", "reduce the inner axis first, or go over flatten(a)", "The result is the number of the round."),
    ("E0253", _T, "{name} needs one axis of integers as indices", "convert them with i64(...)", ""),
    ("E0254", _T, '{name}: mode must be "error" or "drop"', 'leave mode out, or write mode="drop"', "An index out of range is an error, or is ignored with mode=\"drop\"."),
    ("E0255", _T, "{name} without axes needs exactly 2 axes, not {rank}", "write transpose(a, (...)) with the axes you mean", "Transposing more than two axes has several meanings."),
    ("E0256", _T, "{axes} is no order of the axes of an array of {rank}", "name every axis once, for example (1, 0)", "transpose(a, axes) takes a permutation of the leading axes as literals."),
    ("E0258", _T, "{name} pads numbers only", "take the tuple apart first", ""),
    ("E0259", _T, "pad widths are one number, a pair, or {count} pairs", "write pad(a, 1), pad(a, (1, 2)), or one pair per axis", ""),
    ("E0260", _T, "a matrix product needs arrays: {first} and {second}", "use * for numbers", ""),
    ("E0261", _T, "{text} has {count} readings that insert equally little", "", "A function is lifted by `map`, or an argument repeated by `rep`, as little as possible. When two different ways insert equally little, neither is chosen: write one of the maps or reps yourself, or annotate a parameter. `f.explain()` prints what was inserted."),
    ("E0262", _T, "the ranks of {name} could not be decided", "annotate its parameters", "A local function without annotations has one type, found from its body and its uses. Where none fits all of them, its parameters need types."),
    ("E0263", _T, "map(...) applies {name} to elements of another rank", "", "An explicit map inserts nothing: the function takes the elements as they are. A lambda is lifted inside, because its body is an application of its own."),
    ("E0264", _T, "{name} is given {keyword} twice", "give {keyword} by position or by name, not both", "Each parameter takes one argument, as in Python."),
    ("E0265", _T, "{name}: {what} is not supported", "", "A name of NumPy's means exactly what NumPy says. A parameter or a case of it that Atoll does not have is refused rather than read in another way."),
    ("E0266", _T, "{name} takes {expected}, not {found}", "give it what it takes, or convert: f64(x)", "A name of NumPy's is given numbers of a rank or a type it has no meaning for."),
    ("E0267", _T, "`{op}` of {what} means one thing for lists and another for arrays", "", "In Python `[1.0] + [2.0]` puts lists together and `[1.0] * 3` repeats them; of arrays both are arithmetic. A display times one integer is copies, as in Python; everything else about which the two disagree is refused where it is written: comprehensions, list(...), sorted(...), x.tolist() too. What has a name is an array."),
    ("E0268", _T, "the text \"{text}\" {what}", "one letter for each axis of each operand, a comma between operands: \"ij,jk->ik\"", "The text of einsum is read while the program is elaborated: a letter for each axis, operands separated by commas, then -> and the letters of the result. A letter that is not in the result is summed over."),
    ("E0269", _T, "the format {spec!r} does not fit {found}", "use d or x for integers, .3f or .3e for floats", "Formats in f-strings are Python's, for numbers: what Python refuses is refused before the program runs. Arrays, tuples and records are printed whole, without a format."),
    ("E0271", _T, "{found} has fields that are stored as f16 or bf16", "declare the fields f32, and pass f16 arrays as parameters of their own", "f16 and bf16 are storage types of parameters and results, and of tuples of them. Fields of records are f32."),
    # -- sizes
    ("E0301", _S, "sizes do not match in {what}: {left} is not {right}", "slice or pad one side, or declare one name for both sizes", "Sizes are polynomials in the size variables, compared in normal form. Atoll never stretches a declared axis of size 1 and never guesses; axes that None or keepdims=True made in the body meet any size."),
    ("E0302", _S, "the sizes in {what} leave an equation that has no unique solution: {equation}", "annotate the value, or pass the size", "Inference eliminates unknown sizes that stand alone in an equation; it never picks one of several solutions."),
    ("E0303", _S, "nothing determines the size {name} here", "annotate the value, or use repeat(x, n)", "rep(x) and functions with a free size take it from what they are combined with."),
    ("E0304", _S, "the size {name} is not bound by any parameter of this function", "use it in a parameter's type, or make it an integer parameter", "A size variable in a body is the size the caller's arguments have."),
    ("E0305", _S, "the result's size {name} is not bound by any parameter", 'declare it with {name} = at.some("{name}") if the result decides it', "A result size is a polynomial of the parameters' sizes, an integer parameter, or existential."),
    ("E0306", _S, "{what} does not fit the sizes known here: it misses by {short}", "choose numbers that fit, or give it a larger array", "A slice, a window or a range would reach beyond what there is, whatever the arguments are."),
    ("E0307", _S, "{size} is not known to be a multiple of {k}", "use tile(a, k) to pad the last row, or take a size such as 4*n", "split is exact: the length is a multiple of k by type."),
    ("E0308", _S, "no argument determines the size {name}", "use {name} alone, or linearly, as a size of some argument", "At a call a size is bound by any axis that is linear in it once the others are known."),
    ("E0309", _S, "the size {name} is known only inside this branch or loop", "make the array outside, or return its sum, its elements, ... instead", "A size that is made inside a branch, a loop or a comprehension (by filter, at.size or a computed integer) may not occur in the type of what leaves it."),
    ("E0310", _S, "the rows would have different sizes: the size mentions {name}", "pad the rows to one size", "Arrays are regular: there are no ragged arrays."),
    ("E0311", _S, "no size satisfies {equation} in {what}", "pass an array of another size", "The equation between the sizes has no solution in whole numbers."),
    ("E0312", _S, "{name} calls itself, so its sizes need names", 'declare them: n = at.sizes("n"), and write f64[n] for f64[_]', "A size written `_` is found by reading the body; the body of a recursive function needs it before that."),
    ("E0314", _S, "sizes are divided by positive numbers only, not by {divisor}", "divide by 1 or more", "A quotient of sizes is rounded down, and its divisor is at least 1."),
    ("E0313", _S, "{name} is used as a size before it comes as a parameter", "put {name} first, or leave it out: a size is bound by the arrays", "An integer parameter can be a size further on in the signature. Before it, its value is not known."),
    # -- memory and modes
    ("E0401", _T, "{name} is given to {fn}, which may overwrite it, but it is read again", "give a copy: at.copy({name}), or use what {fn} returns", "A parameter declared at.own[...] may be overwritten. Inside Atoll the value given to it must not be read afterwards, so that no hidden copy is needed; deleting `own` changes memory use, never meaning."),
    # -- calls from Python
    ("E0601", _S, "{name}: {text}", "pass arrays whose sizes fit; {name}.type shows them", "Sizes are measured on the arguments before any code runs. Each size name has one value."),
    ("E0602", _T, "{fn}: argument {name} must be {expected}, not {found}", "pass an array for an array, a number for a number, a tuple for a tuple, an instance for a record", "Arrays are anything with the array interface or DLPack on the host; scalars are Python numbers or NumPy scalars; records are instances of their class."),
    ("E0603", _T, "{fn}: argument {name} must have dtype {expected}, not {found}", "convert it: {name}.astype({to})", "Dtypes are never converted silently at a call."),
    ("E0604", b.RunIndexError, "{name}: argument {arg} is declared {shown}, but holds {value}; an index here is at least 0 and below {size}", "check the indices before the call", "A parameter of type idx[n] is checked once, on entry; then no read through it fails. Should another thread change the array during the call, its elements are taken into range where they are read."),
    ("E0605", _T, "{fn}: {text}", "call it as {call}", "Positional, keyword and default arguments work as in Python."),
    ("E0606", _C, "{fn}: the captured {what} {name} has changed since {fn} was compiled", "pass {name} as an argument, or call {fn}.refresh()", "Captured constants and functions are frozen at the first use and are part of the cache key."),
    ("E0607", _T, "{fn}: argument {name} is {value}, which does not fit {dtype}", "pass a number that fits, or declare a wider type", "Python numbers convert if they fit."),
    ("E0608", _T, "{fn}: argument {name} must have {expected} ({shown}), not {found}", "index or reshape the argument, or declare its axes", "A call lifts over the axes an argument has too many (docs/ranks_and_sizes.md); one with too few is repeated where another argument says how often."),
    ("E0609", _T, "{name} is generic: it has type variables or function parameters", "call it from another Atoll function", "A generic function is compiled for each use."),
    ("E0610", _T, "{name}: {text}", "", "What Atoll's own functions take is said in docs/reference.md; they check their arguments before they do anything."),
    ("E0611", _T, "{name}: {what} has {axes} axes, which is more than NumPy's arrays can have", "join axes: f64[n*m] for f64[n, m]", "An array with more axes than NumPy knows can be used inside an Atoll function, but cannot be passed or returned. The number is 64, or 32 before NumPy 2."),
    ("E0612", b.SizeError, "{name}: size {size} is {value}, and sizes are below 2**46", "pass arrays that exist: no memory is that large", "An array without elements may have axes of any length; sizes of 2**46 (70368744177664) and more are refused, so that products of sizes can be computed exactly."),
    ("E0616", b.TypeError, "bf16 needs the package ml_dtypes, which NumPy arrays of it are made with", "pip install ml_dtypes", "NumPy itself has no bfloat16."),
    # -- running
    ("E0701", b.RunIndexError, "index {index} is out of range for size {size}", "test the index first, for example x[i] if i < len(x) else 0.0", "Every read is proved in range or checked; nothing is clamped or wrapped."),
    ("E0702", b.RunZeroDivisionError, "integer division by zero", "test the divisor first", "Floats divide by zero as IEEE says; integers do not."),
    ("E0703", b.RunAssertionError, "assertion failed: {text}", "give arguments for which the condition holds", "The condition of an `assert` was false."),
    ("E0704", b.RunValueError, "{what} of nothing", "make sure that there is an element; min and max, unlike the others, also take default=", "The least and greatest element of an empty array do not exist."),
    ("E0705", b.RunValueError, "{value} does not become {dtype}", "test with isfinite(x), or clip(x, low, high) first", "A conversion from float to integer truncates; NaN, infinities and values out of range are errors."),
    ("E0706", b.RunValueError, "shift by {count}", "shift by a count that is not negative", "Shifting by the width or more gives 0 (or -1); a negative count is an error."),
    ("E0707", b.RunIndexError, "index {index} occurs twice in scatter", "give op= to combine values", "Without an operator the result would depend on the order."),
    ("E0708", b.RunIndexError, "index {index} is out of range for size {size}", 'use mode="drop" to ignore such indices', "hist and scatter check every index."),
    ("E0709", b.SizeError, "{name}: {what} (line {line}) needs {need}", "call it with sizes for which that holds", "A size that could be negative is a precondition, checked before any code runs."),
    ("E0711", b.RunValueError, "integer to the power {power}", "convert to a float first", "A negative power of an integer is no integer."),
    ("E0712", b.RunRecursionError, "{name} recurses too deeply", "use a loop, or a tail call", "A recursion that does not end is an error, not a crash."),
    ("E0713", b.RunMemoryError, "{name}: there is not enough memory", "see .memory() for what the program allocates", "A temporary array could not be allocated; see .memory() for what the program needs."),
    # -- compiling, cache, tools
    ("E0801", _C, "{name} calls itself, so there is no loop nest for it", 'call it as it is; look at it with show("core") or show("c")', "Functions that call themselves, unions and function values that exist at run time are compiled by another path, with calls instead of loops. Schedules, .memory(), export to C and the stages ainf, term and loops are for programs without them."),
    ("E0802", _C, "no C compiler works here (tried {tried})", "install gcc or clang, or pip install ziglang", "Atoll compiles through the system's C compiler; ATOLL_CC names one, and the ziglang wheel carries one."),
    ("E0803", _C, "the C compiler {compiler} failed: {message}", "this is a bug in Atoll; please report it with the program", ""),
    ("E0804", _C, "workspace must be \"heap\" or \"caller\", not {given!r}", 'leave workspace out, or write workspace="caller"', ""),
    ("E0805", _C, "{name}: {what} needs the heap, so it cannot be exported this way", "leave workspace out, so that the heap is used", "With workspace=\"caller\" every temporary array must have a size the caller can compute."),
    ("E0825", _C, "{name}: only running it decides the size of its result, so it cannot be exported", "return an array of a known size and how many elements count, for example x[argsort([v <= 0 for v in x])], sum(v > 0 for v in x) for those above 0", "The caller of exported C makes room for every result, so it must know their sizes from those of the arguments. filter and other results named with at.some have sizes that only running decides."),
    ("E0806", _C, "there is no stage {stage!r}", "use one of surface, core, ainf, term, plan, loops, passes, rewritten, c, cuda", ""),
    ("E0807", _C, "{name} needs a copy that nobody wrote: {reason}", "write it: x = at.copy(x)", "@at.fn(copies=\"explicit\") refuses programs that would copy an array on their own."),
    ("E0808", _C, "copies must be \"any\" or \"explicit\", not {given!r}", "write @at.fn(copies=\"explicit\"), or leave it out", "With copies=\"explicit\" a program that needs a copy nobody wrote is refused."),
    ("E0812", _C, "ATOLL_BLAS names {path}, which cannot be used: {reason}", "give the path of a library that has cblas_sgemm and cblas_dgemm, or unset ATOLL_BLAS", "ATOLL_BLAS is the path of a BLAS with 32-bit integers; products of matrices are then left to it."),
    ("E0813", _C, "{path} cannot be used: {what}", "mend the line, or delete the file: the compiler then decides as usual", "A .tune file beside a source file pins decisions of the compiler; `atoll tune` writes it."),
    ("E0826", _C, "{name} is {given!r}, which is not {what}", "set {name} to a whole number, {least} or more, or unset it", "ATOLL_NUM_THREADS is the number of threads, ATOLL_KEEP the megabytes of memory kept between calls (0 keeps none), ATOLL_PASSES how many of the rewrites of loops are made (for finding one that is wrong)."),
    ("E0828", _C, "the C compiler {compiler} did not end within {seconds} seconds", "give it more time with ATOLL_CC_TIMEOUT (seconds), or name another compiler with ATOLL_CC", "A compiler that hangs is ended, with everything it started. The first programs it is tried with are small, so it gets little time for them."),
    ("E0829", _C, "the C compiler {compiler} gives wrong results: {what}", "take out options such as -ffast-math from ATOLL_CC and ATOLL_CFLAGS, or name another compiler with ATOLL_CC", "Before a compiler is used it compiles small programs that compilers are known to get wrong (atoll/runtime/native/probes). What an option mends is mended by it; what none mends is refused."),
    ("E0830", _C, "the cache folder {path} cannot be trusted: {reason}", "{remedy}", "Compiled programs are loaded from the cache, so who can write there can run code as you. The folder must be yours (or root's) and writable by you alone."),
    ("E0831", _C, "{path} {reason}, so it is not written over", "give another folder, or say overwrite=True (--overwrite)", "Exported C goes to new files, or replaces what Atoll wrote before. Links are never followed."),
    ("E0832", _C, "nothing can be written to {path}: {reason}", "give a folder that can be written", ""),
    ("E0833", _C, "{name}: the operating system refused ({reason})", "make room or give the permission, and call it again", "A file could not be read or written, or no more of them can be open."),
    ("E0835", _C, "{name} cannot be built as a shared library: it has {what}", "build a function of arrays, numbers, tuples and records that calls it", "Libraries of `atoll build --shared` hold the loops of a function. What runs on a heap, or has values that NumPy cannot hold, needs Atoll itself."),
    ("E0836", _C, "the compiler {compiler} knows no processor {cpu}", "name one it knows, as for its -march: --cpu x86-64-v3", ""),
    ("E0837", _C, "{place} is given {given}, which is no target", 'use "cpu", "cuda", or "cuda:1" for a second GPU', "A function runs on the CPU unless f.on(target) or ATOLL_TARGET says otherwise. No target is chosen by itself."),
    ("E0838", _C, "a GPU cannot run this: {what}", 'leave this function on the CPU: f.on("cpu")', "Programs for GPUs have arrays and loops. Recursion, tagged unions, function values and print need the CPU, and so do arrays inside parallel loops whose size nobody knows before."),
    ("E0839", _C, "bits={given} is neither \"processor\" nor \"portable\"", 'leave it out, or write bits="portable" for the same bits on every kind of processor', "Results are the same for every number of threads, pieces and runs on one kind of processor. With bits=\"portable\" they are the same on every kind: sums have one shape, and functions such as exp are computed by Atoll's own texts (docs/bits.md)."),
    ("E0899", _C, "{name}: this is a bug in Atoll ({reason})", "please report it with the program; ATOLL_DEBUG=1 shows where it happened", "Something happened inside that nobody foresaw. Results are not affected: there are none."),
    ("E0815", _C, "the compiled program {path} cannot be loaded: {reason}", "set ATOLL_CACHE_DIR to a folder whose files may be run", "Compiled programs are kept in the cache and loaded from there; a file system mounted noexec does not allow it."),
    ("E0816", _C, "the plan of {fn} speaks of {name}, which it does not bind", "", "A plan decides about values by the names the function binds them to."),
    ("E0817", _C, "the plan {name}={word!r} cannot be followed: {why}", "leave {name} out of the plan: the compiler then decides as usual", "with_plan(name=\"store\"), \"once\" or \"inline\" decides whether a value is kept in memory, computed once for each element, or computed again at each use. Every decision is checked."),
    ("E0818", _C, "the plan of {fn} says {name} = {given!r}", "write \"store\", \"once\" or \"inline\"", "store keeps a value in memory; once computes each element once; inline computes it again at each use."),
    ("E0819", _C, "{fn} has recursion, unions or function values, so its plan cannot be decided by hand", "put the loops into a function of their own and plan that", "Such functions are compiled another way, to code without a plan of loops."),
    ("E0814", _C, "there is nothing called {given!r} to explain", "write f.explain() or f.explain(\"schedule\")", ""),
]

CODES = {code: Code(code, cls, title, help_, story) for code, cls, title, help_, story in [*_ROWS, *_SCHEDULE_ROWS, *_MADL, *_FUNCTION_ROWS, *_DERIVATIVE_ROWS, *_DISTRIBUTION_ROWS, *_DEVICE_ROWS, *_FUTHARK]}
