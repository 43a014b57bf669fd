-- One step of k-means, and the cost as a function that can be differentiated.
-- ==
-- entry: step
-- input { [[0f64, 0], [1, 0], [10, 10], [11, 10]] [[0f64, 1], [9, 9]] }
-- output { [[0.5f64, 0], [10.5, 10]] }

-- ==
-- entry: gradient
-- input { [[1f64, 0], [3, 0]] [[0f64, 0]] }
-- output { [[-8f64, 0]] }

def distance [d] (a: [d]f64) (b: [d]f64) : f64 = f64.sum (map2 (\x y -> (x - y) * (x - y)) a b)

def nearest [k] [d] (centres: [k][d]f64) (p: [d]f64) : i64 =
  let closer (i, x) (j, y) = if x < y || (x == y && i < j) then (i, x) else (j, y)
  in (reduce closer (-1, f64.inf) (zip (iota k) (map (distance p) centres))).0

entry step [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) : [k][d]f64 =
  let is = map (nearest centres) points
  let sums = reduce_by_index (replicate k (replicate d 0f64)) (map2 (+)) (replicate d 0) is points
  let counts = reduce_by_index (replicate k 0f64) (+) 0 is (replicate n 1)
  in map2 (\sum count -> map (/ f64.max 1 count) sum) sums counts

def cost [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) : f64 =
  f64.sum (map (\p -> f64.minimum (map (distance p) centres)) points)

entry gradient [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) : [k][d]f64 = vjp (cost points) centres 1
