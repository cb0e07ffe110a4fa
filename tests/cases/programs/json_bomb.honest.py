# what is honest beside: it writes shared lists as JSON
import json

json.dumps([1, [2]]) == '[1, [2]]'
