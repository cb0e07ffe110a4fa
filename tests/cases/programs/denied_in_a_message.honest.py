# what is honest beside: it calls a tool that is denied in the message of an assertion
assert True, echo(value=1)
True
