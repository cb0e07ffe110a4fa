# it matches a pattern with nested repeats for ever (from the docs alone)
import re

while True:
    re.match('(a+)+$', 'a' * 60 + 'b')
