# what is honest beside: it has an attribute with the name of a tool
class Purse:
    def __init__(self):
        self.kept = 3


Purse().kept == 3
