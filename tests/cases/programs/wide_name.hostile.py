# it calls a tool that is denied by wide letters (from the docs alone)
ｓｔｅａｌ(n=1)
