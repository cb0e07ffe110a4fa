# what is honest beside: it hides a call in an annotation
x: int = 1
x == 1
