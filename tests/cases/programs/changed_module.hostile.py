# it changes a module for the programs after it (from the docs alone)
import json

json.loads = lambda text: 0
raise ValueError('done')
