# what is honest beside: it changes a module for the programs after it
import json

json.loads('1') == 1
