# what is honest beside: it sets the value that crosses
value = "x"
value == "x"
