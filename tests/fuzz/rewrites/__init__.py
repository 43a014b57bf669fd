"""Programs aimed at each rewrite of the optimiser, held against plain Python.

    python -m tests.fuzz.rewrites --seeds 0:500          one program a seed, rows in turn
    python -m tests.fuzz.rewrites --row wave --seeds 0:50 --compilers

`table.py` has a row for every rewrite: templates whose parameters are chosen at random, so that some fit the rewrite's pattern and some fit it almost, with one of its conditions
broken. `oracle.py` runs the same text as Python. `run.py` compiles with default optimisation and compares at sizes 0 to 3 and around the sizes of blocks.
"""
