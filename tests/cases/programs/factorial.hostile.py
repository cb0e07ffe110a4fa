# it asks a library for a number that takes for ever (from the docs alone)
import math

math.factorial(10**8)
