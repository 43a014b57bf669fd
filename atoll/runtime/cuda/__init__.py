"""Programs on devices: the driver, the compiler of kernels, arrays that stay there, calls; and the same on the CPU for machines without a GPU."""
