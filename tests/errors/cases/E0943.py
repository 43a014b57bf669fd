import atoll as at

at.madl(source="""
let f (a of int) returns (b):
  b == a + 1
""").f

#> E0943: b == a + 1 has no effect
#>   --> <madl>:3:3, in f
#>    3 |   b == a + 1
#>      |   ^^^^^^^^^^
#>    help: `=` defines, `==` compares: b = a + 1
