# it stretches a key without end (from the docs alone)
import hashlib

hashlib.pbkdf2_hmac('sha256', b'a', b'b', 10**12)
