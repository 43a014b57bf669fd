import atoll as at

at.madl(source="""
let f (x of [3]f64) returns (y):
  y = x + x
""").f

#> E0915: the operation + is not defined for [3]f64
#>   --> <madl>:3:7, in f
#>    3 |   y = x + x
#>      |       ^^^^^
#>    help: iterate over it with forward
