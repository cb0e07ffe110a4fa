# what is honest beside: it imports subprocess
import math

math.floor(1.5) == 1
