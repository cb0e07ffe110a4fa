# it fills a string up to a billion characters (from the docs alone)
'x'.ljust(10**9)
