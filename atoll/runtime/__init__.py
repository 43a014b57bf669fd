"""Running programs: arguments and results at the Python boundary (`arguments`), building and caching binaries, calling them."""
