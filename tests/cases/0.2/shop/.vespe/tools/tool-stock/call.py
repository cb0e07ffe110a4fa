"""Calls shoplib.stock:stock of the project with the inputs on stdin; what it prints is the log."""

import asyncio
import importlib
import inspect
import json
import os
import sys

result = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
sys.path.insert(0, os.path.join(os.getcwd(), "."))
answer = importlib.import_module("shoplib.stock").stock(**json.load(sys.stdin))
if inspect.isawaitable(answer):

    async def awaited():
        return await answer

    answer = asyncio.run(awaited())
json.dump(answer, result, ensure_ascii=False)
result.flush()
