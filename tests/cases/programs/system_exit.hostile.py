# it ends with success before its end (from the docs alone)
raise SystemExit(0)
