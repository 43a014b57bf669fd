"""Random differentiable programs: both modes against each other, against dual numbers, against differences, and once more on top.

    python -m tests.fuzz_ad --seeds 0:1000            interpreter, AiNF and loops
    python -m tests.fuzz_ad --seeds 0:200 --compiled  compiled code too
    python -m tests.fuzz_ad --seeds 0:10000 --every 50  compiled code of every 50th
    python -m tests.fuzz_ad --show 7                  the program of a seed

Half of the programs come from the generator of `tests/fuzz` with floats in every program (`programs.py`); the other half are chains of
constructs that derivatives find hard: loops with updates, scans, histograms, scatters, branches (`chains.py`).
"""
