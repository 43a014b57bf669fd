-- Implicit maps: a definition whose ranks do not fit gets the least maps and reps that make them fit.

def scaled (a: f64) (x: f64) = a * x + 1
def zero (n: i64) : [n]f64 = replicate n 0
def mean [n] (xs: [n]f64) = f64.sum xs / f64.i64 n

-- ==
-- entry: rows
-- input { [[1.0, 2.0], [3.0, 5.0]] [1.0, 1.0] } output { [[0.0, 1.0], [2.0, 4.0]] }
entry rows [n][m] (xss: [n][m]f64) (ys: [m]f64) : [n][m]f64 = xss - ys

-- ==
-- entry: centred
-- input { [[1.0, 3.0], [3.0, 5.0]] } output { [2.0, 4.0] [[-1.0, 1.0], [-1.0, 1.0]] }
entry centred [n][m] (xss: [n][m]f64) =
  let means = mean xss
  in (means, map2 (\(xs: []f64) mu -> xs - mu) xss means)

-- ==
-- entry: applied
-- input { 2.0 [1.0, 2.0] } output { [3.0, 5.0] }
entry applied [n] (a: f64) (xs: [n]f64) : [n]f64 = scaled a xs

-- ==
-- entry: both
-- input { [2.0, 3.0] [1.0, 2.0] } output { [3.0, 7.0] }
entry both [n] (as: [n]f64) (xs: [n]f64) : [n]f64 = scaled as xs

-- ==
-- entry: fields
-- input { [1, 2] [3, 4] } output { [1, 2] [4, 16] }
entry fields [n] (xs: [n]i32) (ys: [n]i32) : ([n]i32, [n]i32) =
  let ps = map2 (\x y -> {x, y}) xs ys
  in (ps.x, ps.y * ps.y - 5 * i32.bool (ys == 3))

-- ==
-- entry: masks
-- input { [1, 2, 3] [3, 2, 1] 2 } output { [false, true, false] [true, false, true] }
entry masks [n] (xs: [n]i32) (ys: [n]i32) (k: i32) : ([n]bool, [n]bool) = (xs == ys && ys == k, !(xs == ys))

-- ==
-- entry: piped
-- input { [[1, 2], [3, 4]] } output { [3, 7] }
entry piped [n][m] (xss: [n][m]i32) : [n]i32 = xss |> i32.sum

-- ==
-- entry: many
-- input { [1, 2] } output { [6, 12] }
def six (a: i32) (b: i32) (c: i32) (d: i32) (e: i32) (f: i32) = a + b + c + d + e + f
entry many [n] (xs: [n]i32) : [n]i32 = six xs xs xs xs xs xs

-- ==
-- entry: repeated
-- input { 1.5 } output { [1.5, 1.5, 1.5] }
entry repeated (x: f64) : [3]f64 = f64.max (zero 3) x
