# what is honest beside: it gives a tool a list that holds itself
echo(value=[1, [1]]) == [1, [1]]
