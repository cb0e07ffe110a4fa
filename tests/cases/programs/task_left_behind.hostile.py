# it starts a task of a denied call that nobody awaits (from the docs alone)
import asyncio


async def later():
    return steal(n=1)


asyncio.create_task(later())
raise ValueError('done')
