"""The 54 tasks of NPBench (names and sizes are theirs) in programs of our own: Atoll, NumPy, and where it makes a difference Numba and JAX.

    python -m bench.npbench.run --preset S       the table of times and ratios, every answer checked

Data are random (some of the original inputs are fixed points of their kernels, where doing nothing is right). Answers are held against NumPy in double precision: dtype,
shape and values; one that is empty fails.
"""
