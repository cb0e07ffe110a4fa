# what is honest beside: it shifts one by ten billion bits
1 << 10 == 1024
