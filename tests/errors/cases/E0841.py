import os

from atoll.runtime.cuda.nvrtc import nvrtc

os.environ["ATOLL_NVRTC"] = "/no/such/libnvrtc.so"
try:
    nvrtc()
finally:
    del os.environ["ATOLL_NVRTC"]

#> E0841: kernels cannot be compiled: ATOLL_NVRTC names /no/such/libnvrtc.so, which cannot be used (/no/such/libnvrtc.so: cannot open shared object file: No such file or directory)
#>    help: pip install 'atoll[cuda]', or set ATOLL_NVRTC to the path of libnvrtc.so
