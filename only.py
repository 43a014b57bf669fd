import atoll as at

x = 3
