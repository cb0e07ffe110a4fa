# what is honest beside: it asks for the time for ever
import datetime

datetime.datetime.now() == datetime.datetime.now()
