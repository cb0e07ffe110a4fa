# it makes a text of a gigabyte
x = "a" * 10**9
