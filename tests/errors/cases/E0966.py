import atoll as at

at.madl(source="""
let f (a of int) returns (b):
  assume a < 10;
  b = a + 1
""").f.interpret(12)

#> E0966: f: assume a < 10 does not hold
#>   --> <madl>:3:3
#>    3 |   assume a < 10;
#>      |   ^^^^^^^^^^^^^
