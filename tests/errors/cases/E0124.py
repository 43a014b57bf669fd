import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def f(x: i64) -> i64:
    y = 0
    if x > 0:
        if x == 0:
            return 0
        y = 0
    if x > 1:
        if x == 2:
            return 1
        y = 1
    if x > 2:
        if x == 4:
            return 2
        y = 2
    if x > 3:
        if x == 6:
            return 3
        y = 3
    if x > 4:
        if x == 8:
            return 4
        y = 4
    if x > 5:
        if x == 10:
            return 5
        y = 5
    if x > 6:
        if x == 12:
            return 6
        y = 6
    if x > 7:
        if x == 14:
            return 7
        y = 7
    if x > 8:
        if x == 16:
            return 8
        y = 8
    if x > 9:
        if x == 18:
            return 9
        y = 9
    if x > 10:
        if x == 20:
            return 10
        y = 10
    if x > 11:
        if x == 22:
            return 11
        y = 11
    if x > 12:
        if x == 24:
            return 12
        y = 12
    if x > 13:
        if x == 26:
            return 13
        y = 13
    if x > 14:
        if x == 28:
            return 14
        y = 14
    if x > 15:
        if x == 30:
            return 15
        y = 15
    if x > 16:
        if x == 32:
            return 16
        y = 16
    if x > 17:
        if x == 34:
            return 17
        y = 17
    if x > 18:
        if x == 36:
            return 18
        y = 18
    if x > 19:
        if x == 38:
            return 19
        y = 19
    if x > 20:
        if x == 40:
            return 20
        y = 20
    if x > 21:
        if x == 42:
            return 21
        y = 21
    if x > 22:
        if x == 44:
            return 22
        y = 22
    if x > 23:
        if x == 46:
            return 23
        y = 23
    if x > 24:
        if x == 48:
            return 24
        y = 24
    return y

#> E0124: too many branches return only sometimes
#>   --> E0124.py:100:5, in f
#>    100 |     if x > 22:
#>        |     ^^^^^^^^^^
#>    help: compute the result in a variable and return it once
