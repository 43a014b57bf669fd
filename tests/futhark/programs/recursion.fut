-- Functions that call themselves.

-- ==
-- entry: fact
-- input { 5i64 } output { 120i64 }
entry fact (n: i64) : i64 = if n <= 1 then 1 else n * fact (n - 1)

def sorted [n] (xs: [n]i32) : [n]i32 =
  if n <= 1 then xs
  else let p = xs[0]
       let (low, high) = partition (<= p) (drop 1 xs)
       in sized n (sorted low ++ [p] ++ sorted high)

-- ==
-- entry: sort
-- input { [3, 1, 2, 3, 0] } output { [0, 1, 2, 3, 3] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry sort [n] (xs: [n]i32) = sorted xs

-- A function among the arguments, with what it uses of its surroundings.
def times 'a (n: i64) (f: a -> a) (x: a) : a = if n == 0 then x else times (n - 1) f (f x)

-- ==
-- entry: powers
-- input { 3i64 2 [1, 10] } output { [7, 16] 8 }
entry powers [m] (n: i64) (k: i32) (xs: [m]i32) : ([m]i32, i32) = (times n (map (+ k)) xs, times n (* k) 1)

-- A result of a size of its own.
def evens [n] (xs: [n]i64) : []i64 =
  if n == 0 then [] else if xs[0] % 2 == 0 then [xs[0]] ++ evens (drop 1 xs) else evens (drop 1 xs)

-- ==
-- entry: even_ones
-- input { [1i64, 2i64, 4i64, 5i64] } output { [2i64, 4i64] 2i64 }
entry even_ones (xs: []i64) = let ys = evens xs in (ys, length ys)
