# it imports os
import os

os.system("touch CANARY_FILE")
