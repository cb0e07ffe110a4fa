# what is honest beside: it computes a decimal number without end
from decimal import Decimal

str(Decimal('0.1') + Decimal('0.2')) == '0.3'
