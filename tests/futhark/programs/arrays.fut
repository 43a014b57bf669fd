-- Derivatives, accumulators, sizes that change, slices.
-- ==
-- entry: whole
-- input { 3 4 } output { 4 3 }
entry whole (x: i32) (y: i32) : (i32, i32) = vjp (\(a, b) -> a * b) (x, y) 1

-- ==
-- entry: columns
-- input { [1f64, 2] } output { [[2f64, 0], [0, 4]] }
entry columns [n] (xs: [n]f64) : [n][n]f64 =
  jmp (map (\x -> x * x)) xs (tabulate_2d n n (\i j -> f64.bool (i == j)))

-- ==
-- entry: growing
-- input { 3i64 } output { [0i64, 0, 1, 0, 1, 2] }
entry growing (n: i64) : []i64 = loop xs = [] for i < n do xs ++ iota (i + 1)

-- ==
-- entry: strided
-- input { [0, 1, 2, 3, 4] 2i64 } output { [0, 2, 4] [4, 3, 2, 1, 0] [1, 2] }
-- input { [0, 1, 2, 3, 4] 0i64 } error: .
entry strided [n] (xs: [n]i32) (k: i64) : ([]i32, []i32, []i32) = (xs[::k], xs[::-1], xs[1:3])

-- ==
-- entry: collected
-- input { [1i64, 0, 1, 7] } output { [1i64, 2] }
entry collected [n] (is: [n]i64) : [2]i64 = reduce_by_index [0, 0] (+) 0 is (map (const 1) is)

-- ==
-- entry: halves
-- input { 1f32 3f32 } output { 0.33325195f32 }
entry halves (x: f32) (y: f32) : f32 = f32.f16 (f16.f32 x / f16.f32 y)

-- ==
-- entry: different
-- input { true } output { 3i64 }
-- input { false } output { 2i64 }
entry different (b: bool) : i64 = length (if b then [1, 2, 3] else [4, 5])
