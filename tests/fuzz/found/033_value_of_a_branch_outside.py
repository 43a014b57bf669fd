# ruff: noqa
# symptom: loops: 0 instead of 2: a value simplified under a branch's condition was used outside the branch
# expected: the interpreter's value
# arguments: p0=.., p1=array([], dtype=uint64), p2=..
# run: {"sizes": {"n": 0, "m": 0, "k1": 0}, "seed": 4420}
import atoll as at
from atoll import i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128
n, m, k1 = at.sizes('n m k1')


@at.fn
def f(p0: u64, p1: u64[0], p2: at.bool_):
    v2 = False
    v3 = rotate(p1, 1)
    s4 = 0
    v10 = 1 != argmin(scan(or_, bool(False), full(3, v2), exclusive=True))
    v11 = 0
    v12 = [(i64(p0), s4), (i64(s4), p0)]
    v24 = (p0, v3) if v10 else (v12[0][1], v3)
    v25 = [((s4, p0) if v2 else (s4, v24[0]) if v10 else (p0, u64(2))) if v10 else ((p0, p0) if v2 else (s4, p0)) if v2 else (s4, v24[0])]
    v26 = 0
    return (v24, v25)
