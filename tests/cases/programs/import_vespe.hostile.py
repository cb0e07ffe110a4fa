# it imports Vespe and calls a tool with it (from the docs alone)
import vespe

vespe.Project('CANARY_DIR').run_tool('spend', {'n': 1})
