import atoll as at

at.madl(source="""
type mode = idle | run | fault
let f (m of mode) returns (y of int):
  match m:
    case idle: y = 0
    case run: y = 1
  end
""").f

#> E0970: match: fault has no case
#>   --> <madl>:4:3, in f
#>    4 |   match m:
#>      |   ^^^^^^^^
#>    help: add it: case fault: ..
