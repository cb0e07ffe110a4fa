# it matches a pattern that grows without end
import re

re.compile("((((a{100}){100}){100}){100}){100}")
