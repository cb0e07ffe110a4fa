# it imports urllib.request
import urllib.request

urllib.request.urlopen("http://127.0.0.1:CANARY_PORT/")
