# it hides a call in an annotation (from the docs alone)
x: "spend(n=1)" = 1
raise ValueError("done")
