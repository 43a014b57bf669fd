"""What it takes to get a first result: `run` sets it beside JAX and Numba, `growth` follows it as programs get longer."""
