"""Compile and call one function; print the error, if there is one. Run by the cases that need an environment of their own."""

import atoll as at


@at.fn
def f(x: at.f64) -> at.f64:
    return x + 1


try:
    f(1.0)
except at.Error as error:
    print(error)
