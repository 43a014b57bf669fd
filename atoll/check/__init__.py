"""Is it safe, and is it what was meant: obligations on loops, certificates, and a checker that trusts nothing of the compiler.

    accesses.py      what the loops read and write, and under which conditions
    obligations.py   C1 to C10 and freedom from races, proved for all sizes
    separate.py      why two stores never meet
    certificate.py   everything as JSON;  smtlib.py  the same questions for any solver
    prove.py, terms.py, rules.py, blocks.py, follow.py, loops.py, sums.py    the checker: standard library only, no search, no solver
    rewrites/        the checker of rewrites of loops (certificates of compiles), standard library only
    watched.py, compiled.py    what it is given: every rewrite of a function, written down
"""
