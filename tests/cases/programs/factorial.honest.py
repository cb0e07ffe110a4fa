# what is honest beside: it asks a library for a number that takes for ever
import math

math.factorial(5) == 120
