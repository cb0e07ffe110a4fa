# what is honest beside: it draws a billion random numbers
import random

random.randint(1, 1) == 1
