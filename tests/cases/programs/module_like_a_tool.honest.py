# what is honest beside: it imports a module under the name of a tool
import math as m

m.floor(1.5) == 1
