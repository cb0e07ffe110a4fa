# it raises an error of ten megabytes
raise ValueError("x" * 10**7)
