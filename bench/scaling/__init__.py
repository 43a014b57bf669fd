"""Weak and strong scaling on Dask, against dask.array's own operations and NumPy: python -m bench.scaling [--rows N] [--write]

`programs.py` has the five programs, each in Atoll, in dask.array (map_overlap for stencils) and in NumPy; `__main__.py` runs them with one and two workers. Strong: the same
problem. Weak: twice the rows for twice the workers. Every result of Atoll's must be the bits of the plain call; the others agree to rounding.
"""
