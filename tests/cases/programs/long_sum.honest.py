# what is honest beside: it adds ten thousand numbers in one expression
1 + 1 + 1 == 3
