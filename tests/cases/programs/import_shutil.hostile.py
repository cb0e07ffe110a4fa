# it imports shutil
import shutil

shutil.rmtree("CANARY_DIR")
