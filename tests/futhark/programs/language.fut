-- Most constructs once.
-- ==
-- entry: polymorphic
-- input { [1, 2, 3] }
-- output { 2i64 [2, 4, 6] }

def twice 'a (f: a -> a) (x: a) : a = f (f x)
def count_by 'a [n] (p: a -> bool) (xs: [n]a) : i64 = length (filter p xs)
entry polymorphic [n] (xs: [n]i32) : (i64, [n]i32) = (count_by (> 1) xs, map (twice (\x -> x) <-< (* 2)) xs)

-- ==
-- entry: records
-- input { 3f64 4f64 }
-- output { 5f64 10f64 }
type point = {x: f64, y: f64}
def norm (p: point) : f64 = f64.sqrt (p.x * p.x + p.y * p.y)
entry records (x: f64) (y: f64) : (f64, f64) =
  let p = {x, y}
  let q = p with x = 2 * p.x
  in (norm p, norm (q with y = 2 * q.y))

-- ==
-- entry: sums
-- input { [1f32, -4, 0] }
-- output { [1f32, 2, 0] }
type opt = #some f32 | #none
def root (x: f32) : opt = if x < 0 then #none else #some (f32.sqrt x)
entry sums [n] (xs: [n]f32) : [n]f32 = map (\x -> match root x case #some y -> y case #none -> match root (-x) case #some y -> y case #none -> -1) xs

-- ==
-- entry: loops
-- input { 10 } output { 55 [0i64, 1, 1, 2, 3, 5, 8, 13, 21, 34] 16 }
entry loops (n: i32) : (i32, []i64, i32) =
  let sum = loop acc = 0 for i < n + 1 do acc + i
  let fib = loop xs = replicate (i64.i32 n) 0i64 for i < i64.i32 n do xs with [i] = if i < 2 then i else xs[i - 1] + xs[i - 2]
  let power = loop x = 1 while x < n do x * 2
  in (sum, fib, power)

-- ==
-- entry: modules
-- input { [3i64, 1, 2] } output { 6i64 1f64 }
module type monoid = { type t val op : t -> t -> t val unit : t }
module folded (m: monoid) = { def fold [n] (xs: [n]m.t) : m.t = reduce m.op m.unit xs }
module sums = folded {type t = i64 def op = (i64.+) def unit = 0i64}
module least = folded {type t = f64 def op = f64.min def unit = f64.highest}
entry modules [n] (xs: [n]i64) : (i64, f64) = (sums.fold xs, least.fold (map f64.i64 xs))

-- ==
-- entry: failing
-- input { 3i64 } error: index
entry failing (i: i64) : i64 = (iota 3)[i]
