# it imports importlib
import importlib

importlib.import_module("os").system("touch CANARY_FILE")
