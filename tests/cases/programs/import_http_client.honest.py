# what is honest beside: it imports http.client
import decimal

str(decimal.Decimal("1.5")) == "1.5"
