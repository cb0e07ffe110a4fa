# what is honest beside: it applies a lambda to itself
(lambda f: f(1))(lambda n: n == 1)
