"""Elaboration: one walk over the text of a function that makes its names, types, ranks and sizes explicit, from surface/ to core/ (start at elaborator.py, session.py)."""
