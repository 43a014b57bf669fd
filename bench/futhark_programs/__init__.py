"""Programs of futhark-benchmarks beside NumPy, Numba and JAX: `python -m bench.futhark_programs CHECKOUT`.

The programs are read from the checkout; data and versions in Python are ours, written from what a program computes: `arrays.py` in terms of whole arrays (NumPy and JAX),
`loops.py` element by element (Numba). Every result is compared with the NumPy or Numba version before anything is timed.
"""
