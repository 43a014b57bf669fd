"""The types of what is built in, in Futhark's own notation; builtins.py says what they do."""

BUILTINS = """
module type builtins = {
  val map 'a [n] 'x : (a -> x) -> [n]a -> *[n]x
  val map2 'a 'b [n] 'x : (a -> b -> x) -> [n]a -> [n]b -> *[n]x
  val map3 'a 'b 'c [n] 'x : (a -> b -> c -> x) -> [n]a -> [n]b -> [n]c -> *[n]x
  val map4 'a 'b 'c 'd [n] 'x : (a -> b -> c -> d -> x) -> [n]a -> [n]b -> [n]c -> [n]d -> *[n]x
  val map5 'a 'b 'c 'd 'e [n] 'x : (a -> b -> c -> d -> e -> x) -> [n]a -> [n]b -> [n]c -> [n]d -> [n]e -> *[n]x
  val reduce [n] 'a : (a -> a -> a) -> a -> [n]a -> a
  val scan [n] 'a : (a -> a -> a) -> a -> [n]a -> *[n]a
  val filter [n] 'a : (a -> bool) -> [n]a -> *[]a
  val scatter 't [k] [n] : *[k]t -> [n]i64 -> [n]t -> *[k]t
  val reduce_by_index 'a [k] [n] : *[k]a -> (a -> a -> a) -> a -> [n]i64 -> [n]a -> *[k]a
  val tabulate 'a : (n: i64) -> (i64 -> a) -> *[n]a
  val iota : (n: i64) -> *[n]i64
  val replicate 't : (n: i64) -> t -> *[n]t
  val copy 't : t -> *t
  val manifest 't : t -> *t
  val zip [n] 'a 'b : [n]a -> [n]b -> *[n](a, b)
  val unzip [n] 'a 'b : [n](a, b) -> ([n]a, [n]b)
  val transpose [n] [m] 't : [n][m]t -> [m][n]t
  val builtin_concat [n] [m] 't : [n]t -> [m]t -> *[n + m]t
  val builtin_flatten [n] [m] 't : [n][m]t -> [n * m]t
  val builtin_unflatten [k] 't : (n: i64) -> (m: i64) -> [k]t -> [n][m]t
  type~ builtin_acc 't
  val builtin_scatter_stream [k] [n] 'a 'b : *[k]a -> (*builtin_acc ([k]a) -> b -> builtin_acc ([k]a)) -> [n]b -> *[k]a
  val builtin_hist_stream [k] [n] 'a 'b : *[k]a -> (a -> a -> a) -> a -> (*builtin_acc ([k]a) -> b -> builtin_acc ([k]a)) -> [n]b -> *[k]a
  val builtin_acc_write [k] 'a : *builtin_acc ([k]a) -> i64 -> a -> *builtin_acc ([k]a)
  val builtin_blank 't : t
  val jvp2 'a 'b : (a -> b) -> a -> a -> (b, b)
  val vjp2 'a 'b : (a -> b) -> a -> b -> (b, a)
  val with_vjp 'a 'b : (a -> b) -> (b -> b -> a) -> a -> b
}
"""

_NUMERIC = """
  val (+) : t -> t -> t
  val (-) : t -> t -> t
  val (*) : t -> t -> t
  val (/) : t -> t -> t
  val (%) : t -> t -> t
  val (**) : t -> t -> t
  val to_i64 : t -> i64
  val (==) : t -> t -> bool
  val (<) : t -> t -> bool
  val (>) : t -> t -> bool
  val (<=) : t -> t -> bool
  val (>=) : t -> t -> bool
  val (!=) : t -> t -> bool
  val neg : t -> t
  val max : t -> t -> t
  val min : t -> t -> t
  val abs : t -> t
  val sgn : t -> t
  val highest : t
  val lowest : t
  val sum [n] : [n]t -> t
  val product [n] : [n]t -> t
  val maximum [n] : [n]t -> t
  val minimum [n] : [n]t -> t
"""

_UNARY = (
    "recip sqrt rsqrt cbrt exp sin cos tan sinpi cospi tanpi asin acos atan asinpi acospi atanpi sinh cosh tanh asinh acosh atanh "
    "gamma lgamma erf erfc log log2 log10 log1p ceil floor trunc round"
).split()

MODULE_TYPES = (
    "module type from_prim = { type t\n"
    + "".join(f"val {p} : {p} -> t\n" for p in "i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bool".split())
    + "}\nmodule type numeric = { include from_prim\n"
    + _NUMERIC
    + "}\nmodule type integral = { include numeric\n"
    + "".join(f"val ({op}) : t -> t -> t\n" for op in "// %% & | ^ << >> >>>".split())
    + """
  val not : t -> t
  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t
  val popc : t -> i32
  val mul_hi : (x: t) -> (y: t) -> t
  val mad_hi : (a: t) -> (b: t) -> (c: t) -> t
  val clz : t -> i32
  val ctz : t -> i32
}
module type size = { include integral
  val iota : t -> *[]t
  val replicate 'v : t -> v -> *[]v
}
module type real = { include numeric
  val from_fraction : i64 -> i64 -> t
  val to_f64 : t -> f64
"""
    + "".join(f"val {f} : t -> t\n" for f in _UNARY)
    + """
  val atan2 : t -> t -> t
  val atan2pi : t -> t -> t
  val hypot : t -> t -> t
  val lerp : t -> t -> t -> t
  val mad : (a: t) -> (b: t) -> (c: t) -> t
  val fma : (a: t) -> (b: t) -> (c: t) -> t
  val isinf : t -> bool
  val isnan : t -> bool
  val inf : t
  val nan : t
  val pi : t
  val e : t
}
module type float = { include real
  type int_t
  val from_bits : int_t -> t
  val to_bits : t -> int_t
  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t
  val epsilon : t
  val nextafter : (x: t) -> (y: t) -> t
  val ldexp : t -> i32 -> t
  val copysign : (x: t) -> (y: t) -> t
}
"""
)

# The operators that work on several types, by the types they take.
OPERATORS = {
    "+": ("num", "same"), "-": ("num", "same"), "*": ("num", "same"), "/": ("num", "same"), "%": ("num", "same"), "**": ("num", "same"),
    "//": ("int", "same"), "%%": ("int", "same"), "&": ("bits", "same"), "|": ("bits", "same"), "^": ("bits", "same"),
    "<<": ("int", "same"), ">>": ("int", "same"), ">>>": ("int", "same"),
    "<": ("prim", "bool"), ">": ("prim", "bool"), "<=": ("prim", "bool"), ">=": ("prim", "bool"),
    "&&": ("bool", "bool"), "||": ("bool", "bool"), "==": ("any", "bool"), "!=": ("any", "bool"),
}  # fmt: skip
