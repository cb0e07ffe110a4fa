# what is honest beside: it matches a pattern with nested repeats for ever
import re

re.match('(a+)+$', 'aaa') is not None
