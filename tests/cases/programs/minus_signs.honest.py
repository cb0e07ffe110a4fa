# what is honest beside: it has twenty thousand minus signs
- - 1 == 1
