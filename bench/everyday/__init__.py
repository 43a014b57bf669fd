"""Ordinary imperative programs, the same text for Atoll and for Numba."""
