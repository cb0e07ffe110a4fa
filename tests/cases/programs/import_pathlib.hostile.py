# it imports pathlib
import pathlib

pathlib.Path("CANARY_FILE").write_text("x")
