# it gives a tool true where a number is due (from the docs alone)
import json

spend(n=json.loads('true'))
