"""Error codes of functions and data: unions, `match`, function values, recursion, modules (E11xx)."""

from __future__ import annotations

from atoll.errors import base as b

_P, _T, _C, _R = b.ParseError, b.TypeError, b.CompileError, b.RunError

ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    ("E1101", _T, "the record {name} contains itself", "end the recursion with another case: {name} | None", "A record that always contains another of its kind has no values. A union has: one of its cases does not recurse."),
    ("E1102", _T, "the field {name} of {record} is annotated {text!r}, which is not a type", "name a type that exists when the record is first used", "Field annotations may be strings; they are read when the record is first used, so they may name a union made further down."),
    ("E1103", _T, "{found} cannot be a case of a union", "join records (@at.record) and None", "T = A | B joins records. A number or an array can be a case as the field of a record."),
    ("E1104", _T, "{name} takes {expected} types, not {found}", "", "T[i64] puts i64 for the first type variable of T, in the order the fields mention them."),
    ("E1105", _T, "{record} is not a case of {union}", "its cases are {cases}", "A record becomes a union by itself where the union is expected, if it is one of its cases."),
    ("E1106", _T, "this `match` misses a case: {missing}", "add `case {missing}:`, or `case _:` for everything else", "A match on a union, or one whose cases return, names every case; guards do not count, since they may be false."),
    ("E1107", _P, "this case can never be reached", "remove it, or put it before the case that takes its values", "Cases are tried in order; the ones before this take every value it would."),
    ("E1108", _T, "{what} could be {first} or {second}, which are not cases of one union", "annotate the value with the union that is meant", "Two records meet in the union they are both cases of, when there is exactly one."),
    ("E1109", _T, "nothing determines the type {name} of {union} here", "annotate the value where it is made, for example xs: List[i64] = Nil()", "An empty list does not say what it is a list of; where nothing else does, the annotation must."),
    ("E1110", _T, "{what} becomes a value at run time, so its type must be known", "annotate its parameters, or the place it goes to: f: at.Fn[[i64], i64] = ...", "A function known at compile time needs no types: it is expanded where it is called. One that is chosen, stored or returned at run time has one type."),
    ("E1111", _T, "{union} has no field {name}: which fields there are depends on the case", "take it apart with `match`", "Only a union of one case has fields of its own."),
    ("E1112", _T, "{found} cannot be shown by print", "print its numbers", "print(...) shows numbers, arrays, tuples and records of those."),
    ("E1113", _T, "{name} cannot be differentiated: {what}", "use a loop instead of a recursion, and numbers instead of cases", "Derivatives pass through functions that vanish at compile time. Recursion, unions and functions that exist at run time have no derivative rule."),
    ("E1114", _C, "{name} calls itself at ever more types", "call it at the type it was called with", "A generic function is compiled for every type it is used at; here there would be no end to them."),
    ("E1115", _T, "the options of this pattern bind different names or types", "bind the same names in every option", "Whichever option matches, the body of the case finds the same names."),
    ("E1116", _T, "{fn}: argument {name} must be {expected}, not {found}", "", "Values of a union are instances of its records, None where None is a case, and Python lists for std.List."),
    ("E1117", _C, "module {module}: {name} has type {found} here, but was compiled as {expected}", "build the module again: atoll build --module {module}", "A module's interface file says what was compiled. When the source says something else, nothing is linked."),
    ("E1118", _C, "module {module} was compiled with {name}: {expected}, but {other} expects {found}", "build both modules against the same declarations", "Modules that exchange values of a union must agree on its cases and their fields."),
    ("E1119", _C, "{path} is not an interface file of this Atoll: {reason}", "build the module again", ""),
    ("E1120", _T, "{name} cannot be part of a module: {reason}", "", "A module holds functions with one type each. Generic functions are compiled where they are used."),
    ("E1123", _T, "{name} cannot be called from Python: {found} has no meaning there", "call it from another Atoll function that returns numbers, arrays, records or unions of them", "Functions and arrays of unions live inside a program only."),
    ("E1124", _C, "{name} has no loop nest: {what}", 'call it as it is; look at it with show("core") or show("c")', "Functions that call themselves, unions and function values that exist at run time are compiled by another path, with calls instead of loops. Schedules, .memory() and export to C are for programs without them."),
    ("E1125", _T, "{fn}: argument {name} must be an Atoll function, not {found}", "decorate it with @at.fn", "A function given from Python is compiled together with the one it is given to, so Atoll must know its text."),
    ("E1122", _T, "the function {name} is called with more than one type", "annotate its parameters", "A local recursive function has one type, that of its first call."),
]
