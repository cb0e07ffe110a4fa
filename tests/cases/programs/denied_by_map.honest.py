# what is honest beside: it maps a tool that is denied over a list
[echo(value=n) for n in [1, 2]] == [1, 2]
