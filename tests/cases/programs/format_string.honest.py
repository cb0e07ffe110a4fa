# what is honest beside: it reads attributes by a format
"{0}".format(1) == "1"
