import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.record
class Particle:
    position: f64[3]
    velocity: f64[3]


@at.fn
def f(ps: Particle[n]) -> f64:
    return sum(p.position[0] + p.velocity[0] for p in ps)


f(Particle(np.zeros((4, 3)), np.zeros((5, 3))))

#> E0601: f: size n is 4 in argument ps.position (axis 0) but 5 in argument ps.velocity (axis 0)
#>    help: pass arrays whose sizes fit f(ps: Particle[n])
