"""The kernels of the bench on a GPU, against JAX, PyTorch (eager and compiled) and CuPy."""
