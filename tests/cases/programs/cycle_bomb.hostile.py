# it lists a cycle that has no end (from the docs alone)
import itertools

list(itertools.cycle([1]))
