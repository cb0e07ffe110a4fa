# it has a loop variable with the name of a tool (from the docs alone)
for spend in [3]:
    spend(n=1)
