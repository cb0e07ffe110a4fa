# what is honest beside: it makes ten gigabytes of zeros
bytes(3) == b'\x00\x00\x00'
