# it calls a denied tool by another name
f = steal
f(n=1)
