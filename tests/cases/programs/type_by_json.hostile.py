# it gives a tool a string whose type the check cannot know (from the docs alone)
import json

spend(n=json.loads('"1"'))
