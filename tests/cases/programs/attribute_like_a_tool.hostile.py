# it has an attribute with the name of a tool (from the docs alone)
class Purse:
    def __init__(self):
        self.spend = 3


Purse().spend(n=1)
