"""Rank polymorphism for a whole definition: AUTOMAP by integer programming (docs/sources.md, Schenck).

Functions have ordinary types; an application may be lifted by `map` or given `rep`, as little as possible. Where every rank is known as
the text is read, `elaborate/lifting.py` decides on the spot. This folder decides where that is not enough: functions without
annotations, functions passed to functions, polymorphic functions whose result could have several ranks.

    kinds        rank types: axes (a linear form) around numbers, tuples, functions, variables; skeletons and their unification
    schemes      the rank types of built-ins, as a table; those of declared types
    constraints  applications with their unknown M and R, equations between rank types
    generate     from an expression to constraints (C-* rules, with frames); `statements` does the same for bodies
    locals       the type of a local function: from its own body if that decides it, else together with its uses
    relax        equations between types become linear equations between ranks
    propagate    what is forced is put in; the rest falls into independent parts
    program      one part as an integer program, solved and enumerated with HiGHS
    solve        all of it: the least solutions of a set of constraints
    readings     solutions as text in the user's syntax, and the edit that selects each
    analysis     the entry: one definition in, a table for the elaborator or an error out
"""
