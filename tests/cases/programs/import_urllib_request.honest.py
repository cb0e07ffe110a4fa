# what is honest beside: it imports urllib.request
import hashlib

len(hashlib.sha256(b"a").hexdigest()) == 64
