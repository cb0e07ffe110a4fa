# what is honest beside: it opens a debugger
True
