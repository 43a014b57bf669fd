"""Benchmarks: Atoll beside its peers in one process, interleaved, medians and ratios."""
