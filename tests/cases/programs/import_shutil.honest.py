# what is honest beside: it imports shutil
import copy

copy.copy([1]) == [1]
