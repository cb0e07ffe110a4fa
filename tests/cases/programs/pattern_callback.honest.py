# what is honest beside: it lets a pattern call a tool that is denied
import re

re.sub('a', 'b', 'aa') == 'bb'
