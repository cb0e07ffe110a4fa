# what is honest beside: it gives a tool more by a mapping
spend(**{'n': 1}) == 1
