import numpy as np

import atoll as at

x = at.DeviceArray(np.ones(3), "cuda-emulated")
x.free()
np.asarray(x)

#> E0845: at.DeviceArray: this array was freed
#>    help: free an array after its last use, or leave it to Python
