# it gives a tool a list that holds itself (from the docs alone)
x = [1]
x.append(x)
echo(value=x)
