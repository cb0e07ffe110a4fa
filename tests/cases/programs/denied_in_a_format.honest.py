# what is honest beside: it calls a tool that is denied inside a string
f"{echo(value=1)}" == "1"
