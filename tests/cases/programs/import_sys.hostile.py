# it imports sys
import sys

sys.modules["os"].system("touch CANARY_FILE")
