# what is honest beside: it imports importlib
import base64

base64.b64encode(b"a").decode() == "YQ=="
