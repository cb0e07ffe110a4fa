# it imports a private name of a module (from the docs alone)
from random import _os

_os.system('touch CANARY_FILE')
