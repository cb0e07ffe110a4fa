# what is honest beside: it gives a tool shared lists that are terabytes
echo(value=[["a"]]) == [["a"]]
