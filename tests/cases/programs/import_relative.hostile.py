# it imports what stands beside it (from the docs alone)
from . import tools

tools.spend(n=1)
