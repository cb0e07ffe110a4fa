# what is honest beside: it lists a product of a million billions
import itertools

len(list(itertools.product(range(3), repeat=2))) == 9
