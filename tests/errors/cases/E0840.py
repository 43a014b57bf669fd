import os

import numpy as np

import atoll as at

os.environ["ATOLL_CUDA_DRIVER"] = "/no/such/libcuda.so.1"
try:
    at.DeviceArray(np.ones(3))
finally:
    del os.environ["ATOLL_CUDA_DRIVER"]

#> E0840: cuda:0 cannot be used: there is no driver of NVIDIA's here (/no/such/libcuda.so.1: cannot open shared object file: No such file or directory)
#>    help: run it where there is an NVIDIA GPU with its driver, or on the CPU: .on("cpu")
