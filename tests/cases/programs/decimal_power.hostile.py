# it computes a decimal number without end (from the docs alone)
from decimal import Decimal

Decimal(7) ** 10**9 % 1000 + Decimal('1e999999999')
while True:
    pass
