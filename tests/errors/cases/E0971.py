import atoll as at

at.madl(source="""
let f (go of bool) returns (y of int):
  automaton:
    state idle: y = 0; until go then runs;
    state run: y = 1
  end
""").f

#> E0971: automaton: there is no state runs
#>   --> <madl>:4:24, in f
#>    4 |     state idle: y = 0; until go then runs;
#>      |                        ^^^^^^^^^^^^^^^^^^
#>    help: the states are idle, run
