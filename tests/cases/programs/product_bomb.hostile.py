# it lists a product of a million billions (from the docs alone)
import itertools

list(itertools.product(range(1000), repeat=5))
