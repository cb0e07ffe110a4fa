# it executes a text
exec("spend(n=1)")
