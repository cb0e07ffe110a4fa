# it opens a debugger (from the docs alone)
breakpoint()
help()
