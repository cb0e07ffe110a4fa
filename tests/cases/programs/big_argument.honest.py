# what is honest beside: it gives a tool a number of five thousand digits
echo(value=10**15) == 10**15
