# it sleeps for a day
import time

time.sleep(86400)
