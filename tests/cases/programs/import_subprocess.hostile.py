# it imports subprocess
import subprocess

subprocess.run(["touch", "CANARY_FILE"])
