# what is honest beside: it makes a text of a gigabyte
len("a" * 10**5) == 10**5
