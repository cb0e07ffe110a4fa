# it imports http.client
import http.client

http.client.HTTPConnection("127.0.0.1", CANARY_PORT).request("GET", "/")
