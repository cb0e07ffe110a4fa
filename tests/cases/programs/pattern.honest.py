# what is honest beside: it matches a pattern that takes for ever
import re

re.match("a*b", "aab") is not None
