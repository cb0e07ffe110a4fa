# it reads attributes by a format
"{0.__class__.__init__.__globals__}".format(spend)
