# what is honest beside: it imports os
import json

json.dumps(1) == "1"
