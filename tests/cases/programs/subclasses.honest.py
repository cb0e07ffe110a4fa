# what is honest beside: it walks the classes
isinstance((), tuple)
