# it gives a tool half a character and prints it (from the docs alone)
print('\ud800')
echo(value='\ud800')
raise ValueError("done")
