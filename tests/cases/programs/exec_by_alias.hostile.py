# it executes a text by another name
run = exec
run("spend(n=1)")
