-- Types of unknown size behind module types, and records whose fields get another size.

module type game = {
  type~ state
  val start : i64 -> state
  val grow : i64 -> state -> state
  val total : state -> i64
}

module game : game = {
  type~ state = {cells: []i64, age: i64}
  def start n = {cells = iota n, age = 0i64}
  def grow k (s: state) = s with cells = map (+ s.age) (iota k) with age = s.age + 1
  def total (s: state) = i64.sum s.cells + 100 * s.age
}

-- ==
-- entry: played
-- input { 3i64 5i64 }
-- output { 215i64 }
entry played (n: i64) (k: i64) : i64 = game.total (game.grow k (game.grow n (game.start 2)))

module either
  : {
      type~ t
      val mk : i64 -> *t
      val size : t -> i64
    } = {
  type~ t = #few ([]i32) | #many ([]i32)
  def mk (n: i64) : *t = if n < 3 then #few (replicate n 0) else #many (replicate (2 * n) 1)
  def size (x: t) = match x case #few a -> length a case #many a -> length a
}

-- ==
-- entry: sizes
-- input { [1i64, 4i64] }
-- output { [1i64, 8i64] }
entry sizes [n] (xs: [n]i64) : [n]i64 =
  loop out = replicate n 0 for i < n do out with [i] = either.size (either.mk xs[i])

-- Sizes by a function of sizes: what it is given is found out.
def more (n: i64) = n + 2
def padded [n] (xs: [n]i32) : [more n]i32 = ([0] ++ xs ++ [0]) :> [more n]i32
def inner [n] (xs: [more n]i32) : [n]i32 = xs[1:n + 1] :> [n]i32

-- ==
-- entry: there_and_back
-- input { [4, 5, 6] }
-- output { [4, 5, 6] }
entry there_and_back (xs: []i32) = inner (padded xs)

-- ==
-- entry: counted
-- input { [2i64, 3i64] }
-- output { [0i64, 1i64, 2i64, 3i64, 4i64] }
def up_to [n] (parts: [n]i64) : [reduce (+) 0 parts]i64 = iota (reduce (+) 0 parts)
entry counted (parts: []i64) = up_to parts

-- A size that a functor is given is the same size outside of it.
module vectors (S: {val n : i64}) = {
  type t = [S.n]f64
  def zero : t = replicate S.n 0
  def add (a: t) (b: t) : *t = map2 (+) a b
}
module three = {def n : i64 = 3}
module v3 = vectors three

-- ==
-- entry: twice
-- input { [1.0, 2.0, 3.0] }
-- output { [2.0, 4.0, 6.0] }
entry twice (xs: [3]f64) = let ys = xs :> [three.n]f64 in v3.add ys (v3.add v3.zero ys)

-- A module in a module type mentions the types around it.
module type boxes = {
  type box
  module make: {
    type made = box
    val of_number : i64 -> made
  }
  val opened : box -> i64
}

module boxes : boxes = {
  type box = (i64, bool)
  module make = {
    type made = (i64, bool)
    def of_number x = (x, true)
  }
  def opened (b: box) = if b.1 then b.0 else -1
}

-- ==
-- entry: boxed
-- input { 7i64 }
-- output { 7i64 }
entry boxed x = boxes.opened (boxes.make.of_number x)

-- Branches that make sums of different sizes.
type maybe 't = #some t | #none

-- ==
-- entry: perhaps
-- input { true 3i64 }
-- output { [0i64, 1i64, 2i64] }
-- input { false 3i64 }
-- output { [9i64] }
def perhaps_some b (x: i64) = if b then #some (iota x) else (#none : maybe ([1]i64)) :> maybe ([]i64)
entry perhaps b x = match perhaps_some b x
                    case #some xs -> xs
                    case #none -> [9]

-- A definition that is not well typed as a recursive one mentions the older of its name.
def scaled (k: i64) (x: i64) = k * x

module wrapped = {
  def scaled {k, x} = scaled k x + 1
}

-- ==
-- entry: older
-- input { 3i64 4i64 }
-- output { 13i64 }
entry older (k: i64) (x: i64) = wrapped.scaled {k, x}

-- What [] of a result stands for is found out, and a loop's state may get other sizes than its start has.
def marked (xs: *[]bool) (is: []i64) : *[]bool = scatter xs is (map (const true) is)

-- ==
-- entry: sieved
-- input { [true, false, true, false, true] [5i64, 3i64, 1i64] }
-- output { [1i64, 3i64] }
entry sieved [n] (odd: [n]bool) (todo: []i64) : []i64 =
  let (_, found) = loop (todo, found) = (todo, replicate n false) while length todo > 0 do
    (filter (>= 3) (map (\x -> x - 2) todo), marked found todo)
  in zip3 (indices odd) odd found |> filter (\(_, o, f) -> !o && f) |> map (.0)

-- A local function of a record whose type it does not say.
-- ==
-- entry: without
-- input { [1f32, 2f32, 3f32] }
-- output { [0f32, 2f32, 0f32] }
entry without [n] (w: [n]f32) : [n]f32 =
  let drop_at i r = {w = tabulate n (\j -> if j == i then 0 else r.w[j]), d = r.d}
  in (drop_at 2 (drop_at 0 {w, d = 1i32})).w

-- A branch that gives another size than a parameter has, whose type hides it; elsewhere its two sizes are found to be one.
type~ track = {cells: []i32, seed: i32}
type~ grid = [][]i32

def restarted (b: bool) (t: track) : track = if b then {cells = replicate (length t.cells + 1) t.seed, seed = 0} else t

-- ==
-- entry: restart
-- input { true } output { 4i64 5 }
-- input { false } output { 3i64 3 }
entry restart (b: bool) : (i64, i32) = let t = restarted b {cells = [1, 2, 3], seed = 5} in (length t.cells, last t.cells)

def trace [n] (a: [n][n]i32) = i32.sum (map (\i -> a[i, i]) (iota n))

-- ==
-- entry: diagonal
-- input { [[1, 2], [3, 4]] } output { 5 }
entry diagonal (g: grid) : i32 = trace g
