# what is honest beside: it imports builtins
import datetime

datetime.date(2026, 1, 2).year == 2026
