# what is honest beside: it sleeps a time that is no number
import time

time.sleep(0)
True
