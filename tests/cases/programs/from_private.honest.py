# what is honest beside: it imports a private name of a module
from random import random

0 <= random() < 1
