# it imports a module under the name of a tool (from the docs alone)
import math as spend

spend(n=1)
