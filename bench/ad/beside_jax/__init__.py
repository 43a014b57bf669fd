"""Gradients of forty programs of different kinds beside JAX's: python -m bench.ad.beside_jax (see __main__.py)."""
