# it imports by the builtin
__import__("os").system("touch CANARY_FILE")
