# what is honest beside: it imports socket
import re

re.findall("a", "aa") == ["a", "a"]
