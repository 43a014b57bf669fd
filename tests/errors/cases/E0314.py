import atoll as at

n = at.sizes("n")
n // 0

#> E0314: sizes are divided by positive numbers only, not by 0
#>    help: divide by 1 or more
