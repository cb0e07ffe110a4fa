# it gives a tool shared lists that are terabytes
x = ["a"] * 1000
for i in range(6):
    x = [x] * 1000
echo(value=x)
