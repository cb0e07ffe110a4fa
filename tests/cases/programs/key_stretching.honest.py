# what is honest beside: it stretches a key without end
import hashlib

hashlib.sha256(b'a').hexdigest()[:4] == 'ca97'
