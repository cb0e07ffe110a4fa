# it opens a file for writing
open("CANARY_FILE", "w").write("x")
