# what is honest beside: it changes a builtin function for the programs after it
len([1]) == 1
