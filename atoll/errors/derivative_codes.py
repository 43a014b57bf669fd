"""Error codes of derivatives, E10xx: rows in the shape of `catalog._ROWS`."""

from __future__ import annotations

from atoll.errors import base as b

_T, _C = b.TypeError, b.CompileError

ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    ("E1001", _C, "{what} has no derivative in Atoll", "use at.stop(...) where it should count as a constant", "Every construct has a rule in both modes or is refused by name; a gradient is never silently wrong. Complex numbers and the derivative of trigamma are refused."),
    ("E1002", _T, "{name}: {arg} is {found}, and only floats are differentiated", "convert it with f64(...), or choose another argument with wrt=", "Integers and bools are never differentiated: a derivative with respect to them would always be zero."),
    ("E1003", _T, "{name} needs a function whose result is a float, not {found}", "sum the result, or use jacrev", "A gradient is the derivative of one number. Jacobians (jacfwd, jacrev) and vjp take any result."),
    ("E1004", _T, "{name} needs an Atoll function, not {found}", "decorate it with @at.fn", "Derivatives are taken of functions whose text Atoll knows."),
    ("E1005", _T, "wrt={wrt} is not an argument of {fn}", "choose among {choices}", "wrt is a position, a name, or a tuple of them; it is 0 unless given."),
    ("E1006", _T, "{name}: the result has a size that only running decides: {found}", "sum it, or pad it to a known size", "A seed has the shape of the result, so its sizes must be known before the function runs."),
    ("E1007", _C, "the derivative given to {fn} is wrong: {problem}", "correct it, or leave it out: Atoll finds the derivative itself", "def_vjp compares the given function with the derivative forwards, def_jvp with the one backwards, in a few random directions: with what was supplied for that, or what Atoll finds itself. check=False believes it (estimators of derivatives), and f.assumptions() says so."),
    ("E1008", _T, "the derivative given to {fn} must be {wanted}, not {given}", "{help}", "It takes the arguments of the function and the adjoint of its result; it gives one adjoint per argument."),
    ("E1009", _T, "{name}: {fn} takes {wanted}, not {given}", "give a tuple with one value per argument", "Several arguments are given as a tuple, a single one may be bare."),
    ("E1010", _T, "{name}: {what} must be a tuple of {wanted}, like the arguments, not {given}", "give a tuple with one value per argument", "Tangents are shaped like the arguments, seeds like the result."),
    ("E1011", _T, "{name}: {what} must be a float or an array of floats, not {found}", "choose floats and arrays with wrt=, or make the parts arguments of their own", "A Jacobian has the axes of the result, then those of the argument; tuples of arguments are chosen with wrt=(...)."),
    ("E1012", _T, "{name} takes an Atoll function first, not {found}", "decorate it with @at.fn", "The functions at.grad, at.jvp and so on work on functions made with @at.fn."),
    ("E1013", _C, "no_false_deps: a round may overwrite what was read of {name}", "leave no_false_deps out: the reverse sweep then logs what is overwritten", "The promise is checked: every place a round reads must differ from the places that it and later rounds write, as far as the indices tell. Where that is proved nothing is logged, with or without the promise."),
    ("E1014", _T, "wrt names {name} twice", "name every argument once", "wrt is a position, a name, or a tuple of them, each argument at most once."),
    ("E1015", _T, "the derivative given to {fn} must be one function, not {found}", "give {form}: @{fn}.{mode}", "def_vjp and def_jvp take a Python function or one made with @at.fn, and check it against the derivative; the only option is check=."),
    ("E1016", _T, "wrt of {name} is a position or a name written out, or a tuple of them", "write {name}(f)(x) to apply it to x, or wrt=0", "What is differentiated is known when the program is compiled."),
    ("E1017", _T, "at.loop takes the number of rounds, or a range", "write at.loop(range(low, high)); options are given by name: checkpoint=, no_false_deps=", "at.loop(n) runs over range(n) and says how derivatives treat the loop."),
    ("E1018", _T, "the depth of checkpoint is a whole number written out, 0 or more", "write checkpoint=2: the loop is cut into blocks two levels deep", "How deep a loop is cut into blocks is part of the program that the derivative becomes."),
    ("E1019", b.RunValueError, "the loop goes on after as many rounds as {text} allows", "give a larger bound, or leave it out: a while loop counts its rounds itself", "at.bound(n) in the condition of a while says that the loop ends after n rounds at most; one that does not is an error."),
    ("E1020", _T, "{name}: {what} must be 0: {dtype} is not differentiated", "give 0, or convert the argument to a float in the function", "Integers and bools are never differentiated: their tangents and adjoints are zeros."),
    ("E1021", _T, "{fn} has no reverse sweep, so it keeps nothing", "ask a gradient: at.grad({fn}).residuals()", "residuals() tells what the reverse sweep of a derivative keeps of the forward sweep; at.grad, at.jacrev and functions whose body takes a reverse derivative have one."),
    ("E1022", _T, "{name}: {fn} takes no arguments, so there is nothing to differentiate", "give it a parameter", "A derivative is taken with respect to arguments; constants that a function captures are none."),
    ("E1023", _T, "{name}: the argument {param} of {fn} is a function, which has no tangent", "use at.grad({fn}, wrt=...), or write a function of the numbers only", "jvp and vjp take all arguments together, so all of them must be data."),
    ("E1024", _T, "the derivative of {fn} was supplied {given} only, and is needed {asked}", "supply it {asked} too: @{fn}.{missing}", "A function with def_vjp alone has no derivative forwards (jvp, jacfwd, linearize, and hessian, which goes forwards through the gradient), one with def_jvp alone none backwards (grad, vjp, jacrev). Atoll's own might be slow or endless where a better one was supplied, so it is not used."),
    ("E1029", _T, "{name}: {what}", "return the number to differentiate and the rest as a pair: return loss, (a, b)", "With has_aux=True a function returns a pair of a float and anything else; the derivative is that of the float, the rest is handed on."),
    ("E1030", _T, "vmap: {what} is an axis written out, None, or a tuple of them", "write in_axes=(0, None)", "Which axes are mapped over is part of the program."),
    ("E1031", _T, "vmap: {what}", "", "vmap(f, in_axes=0, out_axes=0) applies f along one axis of its arguments: in_axes is the axis, for all arguments or one for each, None for what is the same for all."),
    ("E1032", _T, "{what}", "", "at.tree works on tuples, lists and records, part by part."),
]
