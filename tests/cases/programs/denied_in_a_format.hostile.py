# it calls a tool that is denied inside a string (from the docs alone)
f"{steal(n=1)}"
