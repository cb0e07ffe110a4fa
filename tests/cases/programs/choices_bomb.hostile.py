# it draws a billion random numbers (from the docs alone)
import random

random.choices(range(10), k=10**9)
