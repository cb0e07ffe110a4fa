"""What a tool's process is held to: files, network, programs and memory, by what this machine's
kernel offers.

Uses the ground floors alone. `enter` runs in the child and imports nothing of Vespe; `policy`
decides beforehand what it does. Begin with `policy.Policy`: from what a tool states to what its
process is held to; `levels.best` says which level there is.
"""
