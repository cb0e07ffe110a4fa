# it imports builtins
import builtins

builtins.open("CANARY_FILE", "w")
