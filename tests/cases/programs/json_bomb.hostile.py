# it writes shared lists as JSON (from the docs alone)
import json

x = [0] * 1000
for i in range(4):
    x = [x] * 1000
json.dumps(x)
