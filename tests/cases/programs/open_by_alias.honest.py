# what is honest beside: it opens a file by another name
o = len
o("ab") == 2
