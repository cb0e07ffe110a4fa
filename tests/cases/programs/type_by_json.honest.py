# what is honest beside: it gives a tool a string whose type the check cannot know
import json

spend(n=json.loads('1')) == 1
