# it gives a tool a number of five thousand digits (from the docs alone)
echo(value=10**5000)
raise ValueError("done")
