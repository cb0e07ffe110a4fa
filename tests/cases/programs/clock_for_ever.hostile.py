# it asks for the time for ever (from the docs alone)
import datetime

while True:
    datetime.datetime.now()
