from bench.gradbench.tool import main

main()
