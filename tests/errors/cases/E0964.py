import atoll as at

nd = at.madl(source="""
let fib () returns (n):
  n = !last a;
  a init 0 = !last b;
  b init 1 = n + a
""")
nd.fib(3)

#> E0964: fib has a state; call it without arguments to make an instance, then .step(..)
