# it parses a million brackets (from the docs alone)
import json

json.loads('[' * 10**6)
