# what is honest beside: it claims a type that a value does not have
from typing import Any

x: Any = 1
spend(n=x) == 1
