# what is honest beside: it gives a tool a list a hundred thousand deep
echo(value=[[[]]]) == [[[]]]
