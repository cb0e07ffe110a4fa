# what is honest beside: it parses a million brackets
import json

json.loads('[[]]') == [[]]
