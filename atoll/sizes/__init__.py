"""Sizes: integer polynomials (`poly`), what follows from what (`prover`), and inference (`solver`).

One module of arithmetic serves types, index expressions, views, buffer extents, costs and certificates.
"""

from atoll.sizes.poly import ONE, ZERO, Atom, Poly, PolyLike, Quot, Sym, Temporary, cdiv, floordiv, poly, product

__all__ = ["ONE", "ZERO", "Atom", "Poly", "PolyLike", "Quot", "Sym", "Temporary", "cdiv", "floordiv", "poly", "product"]
