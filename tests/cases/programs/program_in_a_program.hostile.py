# it runs a program in a program (from the docs alone)
run_code(code='spend(n=1)')
