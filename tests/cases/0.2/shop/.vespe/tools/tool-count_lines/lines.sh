#!/bin/sh
# Counts the lines of the text in the arguments, which come as JSON.
python3 -c 'import json, sys
print(json.dumps({"lines": len(json.load(sys.stdin)["text"].splitlines())}))'
