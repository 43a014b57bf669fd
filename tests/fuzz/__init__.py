"""Random Atoll programs, and what holds all stages of the compiler against each other on them.

    model.py        types and sizes of generated programs, bounds on their numbers
    expressions.py  expressions of a given type: leaves, choices, calls
    operations.py   operators and functions
    reductions.py   sums, extremes, folds
    arrays.py       array expressions of a given type
    statements.py   statements, loops, branches
    generator.py    whole modules of text: `generate(seed)`
    inputs.py       arguments for any function, from its signature and a seed
    stages.py       every way to run a function: interpreter, AiNF, loops, compiled
    harness.py      run all of them, compare, sort failures by kind; many seeds in a worker process
    shrink.py       a failing text made small
    found/          bugs that were found, as small texts

    python -m tests.fuzz --seeds 0:1000
"""
