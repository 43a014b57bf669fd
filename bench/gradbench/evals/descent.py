"""Gradient descent whose step grows after ten successes and halves after a failure; it takes the function and its gradient, and can be differentiated itself."""

from __future__ import annotations

import atoll as at
from atoll import f64

n = at.sizes("n")
CLOSE = 1e-5


@at.fn
def length(x: f64[n]) -> f64:
    return sqrt(sum(v * v for v in x))


@at.fn
def argmin(f: at.Fn[[f64[n]], f64], slope: at.Fn[[f64[n]], f64[n]], x: f64[n]) -> f64[n]:
    fx, gx, eta, successes, going = f(x), slope(x), 1e-5, 0, True
    while going:
        if length(gx) <= CLOSE:
            going = False
        elif successes == 10:
            eta, successes = 2.0 * eta, 0
        else:
            nxt = x - eta * gx
            if length(x - nxt) <= CLOSE:
                going = False
            else:
                f_next = f(nxt)
                if f_next < fx:
                    x, fx, gx, successes = nxt, f_next, slope(nxt), successes + 1
                else:
                    eta, successes = eta / 2.0, 0
    return x
