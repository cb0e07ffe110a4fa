# it gives a tool a list a hundred thousand deep (from the docs alone)
x = []
for i in range(10**5):
    x = [x]
echo(value=x)
