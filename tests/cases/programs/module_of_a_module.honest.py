# what is honest beside: it takes a module out of another one
import random

0 <= random.random() < 1
