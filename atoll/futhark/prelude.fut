-- What every program sees. Functions without a body here are made by atoll/futhark/builtins.py.

def (|>) '^a '^b (x: a) (f: a -> b) : b = f x
def (<|) '^a '^b (f: a -> b) (x: a) : b = f x
def (>->) '^a '^b '^c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)
def (<-<) '^a '^b '^c (g: b -> c) (f: a -> b) (x: a) : c = g (f x)
def flip '^a '^b '^c (f: a -> b -> c) (y: b) (x: a) : c = f x y
def curry '^a '^b '^c (f: (a, b) -> c) (x: a) (y: b) : c = f (x, y)
def uncurry '^a '^b '^c (f: a -> b -> c) (x: a, y: b) : c = f x y
def const '^a '^b (x: a) (_: b) : a = x
def id '^a (x: a) : a = x
def iterate 'a (n: i32) (f: a -> a) (x: a) : a = loop x for _i < n do f x
def iterate_until 'a (p: a -> bool) (f: a -> a) (x: a) : a = loop x while !(p x) do f x
def iterate_while 'a (p: a -> bool) (f: a -> a) (x: a) : a = loop x while p x do f x

def not (x: bool) : bool = !x
def opaque 't (x: t) : t = x
def trace 't (x: t) : t = x
def break 't (x: t) : t = x

def r32 (x: i32) : f32 = f32.i32 x
def t32 (x: f32) : i32 = i32.f32 x
def r64 (x: i32) : f64 = f64.i32 x
def t64 (x: f64) : i32 = i32.f64 x

def length [n] 't (_: [n]t) : i64 = n
def null [n] 't (_: [n]t) : bool = n == 0
def head [n] 't (x: [n]t) : t = x[0]
def last [n] 't (x: [n]t) : t = x[n - 1]
def tail [n] 't (x: [n]t) : [n - 1]t = x[1:]
def init [n] 't (x: [n]t) : [n - 1]t = x[0:n - 1]
def take [n] 't (i: i64) (x: [n]t) : [i]t = x[0:i]
def drop [n] 't (i: i64) (x: [n]t) : [n - i]t = x[i:]
def sized [m] 't (n: i64) (xs: [m]t) : [n]t = xs :> [n]t
def split [n] [m] 't (xs: [n + m]t) : ([n]t, [m]t) = (xs[0:n] :> [n]t, xs[n:n + m] :> [m]t)
def reverse [n] 't (x: [n]t) : [n]t = x[::-1]
def (++) [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = builtin_concat xs ys
def concat [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = builtin_concat xs ys
def indices [n] 't (_: [n]t) : *[n]i64 = iota n
def rep 't [n] (x: t) : *[n]t = replicate n x
def rotate [n] 't (r: i64) (a: [n]t) : [n]t = tabulate n (\i -> a[(i + r) % n])
def flatten [n] [m] 't (xs: [n][m]t) : [n * m]t = builtin_flatten xs
def flatten_3d [n] [m] [l] 't (xs: [n][m][l]t) : [n * m * l]t = flatten (flatten xs)
def flatten_4d [n] [m] [l] [k] 't (xs: [n][m][l][k]t) : [n * m * l * k]t = flatten (flatten_3d xs)
def unflatten 't [n] [m] (xs: [n * m]t) : [n][m]t = builtin_unflatten n m xs
def unflatten_3d 't [n] [m] [l] (xs: [n * m * l]t) : [n][m][l]t = unflatten (unflatten xs)
def unflatten_4d 't [n] [m] [l] [k] (xs: [n * m * l * k]t) : [n][m][l][k]t = unflatten (unflatten_3d xs)
def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : *[n][m]a = tabulate n (\i -> tabulate m (\j -> f i j))
def tabulate_3d 'a (n: i64) (m: i64) (o: i64) (f: i64 -> i64 -> i64 -> a) : *[n][m][o]a = tabulate n (\i -> tabulate_2d m o (f i))
def foldl [n] 'a 'b (f: a -> b -> a) (acc: a) (bs: [n]b) : a = loop acc for b in bs do f acc b
def foldr [n] 'a 'b (f: b -> a -> a) (acc: a) (bs: [n]b) : a = foldl (flip f) acc (reverse bs)

def map1 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x = map f as
def reduce_comm [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a = reduce op ne as
def all [n] 'a (f: a -> bool) (as: [n]a) : bool = reduce (&&) true (map f as)
def any [n] 'a (f: a -> bool) (as: [n]a) : bool = reduce (||) false (map f as)
def and [n] (xs: [n]bool) : bool = reduce (&&) true xs
def or [n] (xs: [n]bool) : bool = reduce (||) false xs
def hist 'a [n] (op: a -> a -> a) (ne: a) (k: i64) (is: [n]i64) (as: [n]a) : *[k]a = reduce_by_index (replicate k ne) op ne is as
def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t = scatter (replicate k x) is vs
def exscan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  let s = scan op ne as
  in tabulate n (\i -> if i == 0 then ne else s[i - 1])
def reduce_by_index_2d 'a [k] [n] [m] (dest: *[k][m]a) (f: a -> a -> a) (ne: a) (is: [n](i64, i64)) (as: [n]a) : *[k][m]a =
  let at = map (\(i, j) -> if i >= 0 && i < k && j >= 0 && j < m then i * m + j else -1) is
  in unflatten (reduce_by_index (flatten dest) f ne at as)
def reduce_by_index_3d 'a [k] [n] [m] [l] (dest: *[k][m][l]a) (f: a -> a -> a) (ne: a) (is: [n](i64, i64, i64)) (as: [n]a) : *[k][m][l]a =
  let at = map (\(i, j, o) -> if i >= 0 && i < k && j >= 0 && j < m && o >= 0 && o < l then (i * m + j) * l + o else -1) is
  in unflatten_3d (reduce_by_index (flatten_3d dest) f ne at as)
def scatter_2d 't [k] [n] [l] (dest: *[k][n]t) (is: [l](i64, i64)) (vs: [l]t) : *[k][n]t =
  let at = map (\(i, j) -> if i >= 0 && i < k && j >= 0 && j < n then i * n + j else -1) is
  in unflatten (scatter (flatten dest) at vs)
def scatter_3d 't [k] [n] [o] [l] (dest: *[k][n][o]t) (is: [l](i64, i64, i64)) (vs: [l]t) : *[k][n][o]t =
  let at = map (\(i, j, h) -> if i >= 0 && i < k && j >= 0 && j < n && h >= 0 && h < o then (i * n + j) * o + h else -1) is
  in unflatten_3d (scatter (flatten_3d dest) at vs)
def partition [n] 'a (p: a -> bool) (as: [n]a) : ?[k].([k]a, [n - k]a) =
  let [k] (yes: [k]a) = filter p as
  in (yes, filter (\x -> !(p x)) as :> [n - k]a)
def partition2 [n] 'a (p1: a -> bool) (p2: a -> bool) (as: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  let [k] (one: [k]a) = filter p1 as
  let [l] (two: [l]a) = filter (\x -> !(p1 x) && p2 x) as
  in (one, two, filter (\x -> !(p1 x) && !(p2 x)) as :> [n - k - l]a)

def zip2 [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) = zip as bs
def zip3 [n] 'a 'b 'c (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n](a, b, c) = map3 (\a b c -> (a, b, c)) as bs cs
def zip4 [n] 'a 'b 'c 'd (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n](a, b, c, d) = map4 (\a b c d -> (a, b, c, d)) as bs cs ds
def zip5 [n] 'a 'b 'c 'd 'e (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n](a, b, c, d, e) =
  map5 (\a b c d e -> (a, b, c, d, e)) as bs cs ds es
def unzip2 [n] 'a 'b (xs: [n](a, b)) : ([n]a, [n]b) = unzip xs
def unzip3 [n] 'a 'b 'c (xs: [n](a, b, c)) : ([n]a, [n]b, [n]c) = (map (.0) xs, map (.1) xs, map (.2) xs)
def unzip4 [n] 'a 'b 'c 'd (xs: [n](a, b, c, d)) : ([n]a, [n]b, [n]c, [n]d) = (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs)
def unzip5 [n] 'a 'b 'c 'd 'e (xs: [n](a, b, c, d, e)) : ([n]a, [n]b, [n]c, [n]d, [n]e) =
  (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs, map (.4) xs)

def jvp 'a 'b (f: a -> b) (x: a) (dx: a) : b = (jvp2 f x dx).1
def vjp 'a 'b (f: a -> b) (x: a) (dy: b) : a = (vjp2 f x dy).1
def jmp 'a 'b [n] (f: a -> b) (x: a) (dxs: [n]a) : [n]b = map (jvp f x) dxs
def mjp 'a 'b [n] (f: a -> b) (x: a) (dys: [n]b) : [n]a = map (vjp f x) dys
def jmp2 'a 'b [n] (f: a -> b) (x: a) (dxs: [n]a) : (b, [n]b) = (f x, map (jvp f x) dxs)
def mjp2 'a 'b [n] (f: a -> b) (x: a) (dys: [n]b) : (b, [n]a) = (f x, map (vjp f x) dys)
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (f': (c, b) -> a) (x: a) : b =
  (with_vjp f (\(tape, _) (_, adj) -> f' (tape, adj)) x).1

def flatmap [n] 'a 'b 'c (f: a -> ?[k].([k]b, c)) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c) =
  let sizes = map (\x -> let (ys, _) = f x in length ys) as
  let starts = exscan (+) 0 sizes
  let m = reduce (+) 0 sizes
  let data: [m]b =
    loop done = replicate m builtin_blank for i < n do
      let (ys, _) = f as[i]
      in done with [starts[i]:starts[i] + length ys] = ys
  let flags = scatter (replicate m false) (map2 (\s o -> if s == 0 then -1 else o) sizes starts) (replicate n true)
  in (sizes, flags, starts, data, map (\x -> let (_, c) = f x in c) as)
def flatmap' [n] 'a 'b (f: a -> ?[k].[k]b) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (sizes, flags, starts, data, _) = flatmap (\x -> (f x, 0i8)) as
  in (sizes, flags, starts, data)

module intrinsics = {
  type~ acc 't = builtin_acc t
  def scatter_stream [k] [n] 'a 'b (dest: *[k]a) (f: *acc ([k]a) -> b -> acc ([k]a)) (bs: [n]b) : *[k]a = builtin_scatter_stream dest f bs
  def hist_stream [k] [n] 'a 'b (dest: *[k]a) (op: a -> a -> a) (ne: a) (f: *acc ([k]a) -> b -> acc ([k]a)) (bs: [n]b) : *[k]a =
    builtin_hist_stream dest op ne f bs
  def acc_write [k] 'a (xs: *acc ([k]a)) (i: i64) (v: a) : *acc ([k]a) = builtin_acc_write xs i v
  def flat_index_2d [n] 'a (as: [n]a) (o: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) : [n1][n2]a =
    tabulate_2d n1 n2 (\i j -> as[o + i * s1 + j * s2])
  def flat_index_3d [n] 'a (as: [n]a) (o: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) (n3: i64) (s3: i64) : [n1][n2][n3]a =
    tabulate n1 (\i -> flat_index_2d as (o + i * s1) n2 s2 n3 s3)
  def flat_index_4d [n] 'a (as: [n]a) (o: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) (n3: i64) (s3: i64) (n4: i64) (s4: i64) : [n1][n2][n3][n4]a =
    tabulate n1 (\i -> flat_index_3d as (o + i * s1) n2 s2 n3 s3 n4 s4)
  def flat_update_2d [n] [k] [l] 'a (as: *[n]a) (o: i64) (s1: i64) (s2: i64) (bs: [k][l]a) : *[n]a =
    loop as for i < k do loop as for j < l do as with [o + i * s1 + j * s2] = bs[i, j]
  def flat_update_3d [n] [k] [l] [p] 'a (as: *[n]a) (o: i64) (s1: i64) (s2: i64) (s3: i64) (bs: [k][l][p]a) : *[n]a =
    loop as for i < k do flat_update_2d as (o + i * s1) s2 s3 bs[i]
  def flat_update_4d [n] [k] [l] [p] [q] 'a (as: *[n]a) (o: i64) (s1: i64) (s2: i64) (s3: i64) (s4: i64) (bs: [k][l][p][q]a) : *[n]a =
    loop as for i < k do flat_update_3d as (o + i * s1) s2 s3 s4 bs[i]
}
