# it gives a tool more by a mapping (from the docs alone)
import json

spend(**json.loads('{"n": 1, "more": 2}'))
