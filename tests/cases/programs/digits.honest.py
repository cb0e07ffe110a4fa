# what is honest beside: it returns the digits of a number of millions of them
str(10**6) == '1' + '0' * 6
