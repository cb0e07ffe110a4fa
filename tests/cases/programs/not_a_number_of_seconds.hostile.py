# it sleeps a time that is no number (from the docs alone)
import time

time.sleep(float('nan'))
time.sleep(float('inf'))
