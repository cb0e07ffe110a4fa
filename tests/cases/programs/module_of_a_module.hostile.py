# it takes a module out of another one (from the docs alone)
import random

random._os.system('touch CANARY_FILE')
