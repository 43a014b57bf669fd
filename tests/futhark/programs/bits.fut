-- Bits of numbers, and derivatives a program brings along.

-- ==
-- entry: bits
-- input { 1.5f32 -2.0 } output { 1069547520u32 13835058055282163712u64 1.5f32 -2.0 }
entry bits (x: f32) (y: f64) = (f32.to_bits x, f64.to_bits y, f32.from_bits (f32.to_bits x), f64.from_bits (f64.to_bits y))

-- ==
-- entry: next
-- input { [1f32, 0f32, -1f32] } output { [1.0000001f32, 1.4e-45f32, -0.99999994f32] }
entry next (xs: []f32) = map (\x -> f32.nextafter x 2) xs

-- ==
-- entry: high
-- input { -3i64 4611686018427387904i64 18446744073709551615u64 } output { -1i64 18446744073709551614u64 }
entry high (x: i64) (y: i64) (z: u64) = (i64.mul_hi x y, u64.mul_hi z z)

-- ==
-- entry: halves
-- input { [0f16, 1.5f16, -0.0000001f16, 65504f16] } output { [0u16, 15872u16, 32770u16, 31743u16] [0f16, 1.5f16, -0.0000001f16, 65504f16] }
entry halves (xs: []f16) = let bs = map f16.to_bits xs in (bs, map f16.from_bits bs)

-- ==
-- entry: wrapped
-- input { [-1.5, 300.7, 1e300] } output { [255u8, 44u8, 255u8] [-1i32, 300i32, 2147483647i32] }
entry wrapped (xs: []f64) = (map u8.f64 xs, map i32.f64 xs)

-- ==
-- entry: custom
-- input { 3.0 10.0 } output { 9.0 20.0 }
entry custom (x: f64) (k: f64) =
  let f x = with_vjp (\x -> x * x) (\y dy -> dy * k * 2 + 0 * y) x
  in (f x, vjp f x 1)

-- A size that is computed inside, from nothing of the argument.
-- ==
-- entry: rows
-- input { [1i64, 2i64] } output { [[1i64, 1i64, 1i64], [2i64, 2i64, 2i64]] }
entry rows [n] (ks: [n]i64) = map (\k -> replicate (i64.sum ks) k) ks

-- A function in a sum.
type^ op = #scale (i32 -> i32) | #none
def use (o: op) (x: i32) = match o case #scale f -> f x case #none -> x
-- ==
-- entry: sums
-- input { 5 } output { 10 5 }
entry sums x = (use (#scale (* 2)) x, use #none x)

-- A step that is only known when the program runs.
-- ==
-- entry: steps
-- input { [0, 0, 0, 0, 0] 2i64 } output { [7, 0, 7, 0, 7] [0, 0, 0] }
-- input { [0, 0, 0, 0, 0] -2i64 } output { [7, 0, 7, 0, 7] [0, 0, 0] }
-- input { [0, 0, 0, 0, 0] 0i64 } error: step
entry steps [n] (xs: [n]i32) (s: i64) =
  let low = if s < 0 then n - 1 else 0
  let high = if s < 0 then -1 else n
  let k = length xs[low:high:s]
  in (copy xs with [low:high:s] = replicate k 7, sized 3 xs[low:high:s])
