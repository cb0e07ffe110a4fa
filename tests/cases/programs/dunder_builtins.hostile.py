# it reads the builtins
__builtins__["open"]("CANARY_FILE", "w")
