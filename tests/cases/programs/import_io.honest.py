# what is honest beside: it imports io
import random

0 <= random.random() < 1
