# what is honest beside: it imports ctypes
import collections

collections.Counter("aa")["a"] == 2
