# what is honest beside: it opens a file for writing
x = "a file is a word, too"
len(x) > 3
