# what is honest beside: it sleeps for a day
import time

time.sleep(0.01)
True
