# it claims a type that a value does not have (from the docs alone)
from typing import cast

spend(n=cast(int, '1'))
