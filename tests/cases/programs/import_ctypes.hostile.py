# it imports ctypes
import ctypes

ctypes.CDLL(None).system(b"touch CANARY_FILE")
