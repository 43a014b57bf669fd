"""Programs of the kinds the AUTOMAP thesis ported (section 4.9), each written twice: with every map, and without.

Each file has what both versions share, then `# with maps` and `# without maps`, each ending in a function of that name, and
`arguments(rng)`, inputs for both. tests/conformance/test_automap_programs.py holds the two against each other; bench/automap.py
counts the maps and measures what leaving them out costs.
"""
