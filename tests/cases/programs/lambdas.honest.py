# what is honest beside: it has five thousand lambdas in each other
(lambda: 1)() == 1
