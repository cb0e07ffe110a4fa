# it calls a tool by letters of another alphabet (from the docs alone)
ѕpend(n=1)
