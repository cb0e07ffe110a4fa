# it compiles a text
compile("spend(n=1)", "x", "exec")
