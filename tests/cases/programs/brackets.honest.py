# what is honest beside: it is nested ten thousand deep
((((1)))) == 1
