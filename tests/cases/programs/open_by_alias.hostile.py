# it opens a file by another name
o = open
o("CANARY_FILE", "w")
