import atoll as at

at.madl(source="""
let f (x of [4]f64) returns (y):
  foreach ([a] = x) returns (y = {s}): s init 0.0 = last s + a end
""").f

#> E0972: foreach: {s} would be the last value of one element
#>   --> <madl>:3:34, in f
#>    3 |   foreach ([a] = x) returns (y = {s}): s init 0.0 = last s + a end
#>      |                                  ^^^
#>    help: every element has state of its own; take them all: [..], or use forward
