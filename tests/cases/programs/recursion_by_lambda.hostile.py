# it applies a lambda to itself (from the docs alone)
(lambda f: f(f))(lambda f: f(f))
