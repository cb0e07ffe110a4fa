# what is honest beside: it makes a class at run time
type(1) is int
