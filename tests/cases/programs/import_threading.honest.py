# what is honest beside: it imports threading
import time

time.time() > 0
