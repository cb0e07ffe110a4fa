# what is honest beside: it starts a task of a denied call that nobody awaits
async def later():
    return echo(value=1)


await later() == 1
