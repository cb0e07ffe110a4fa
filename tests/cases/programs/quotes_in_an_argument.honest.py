# what is honest beside: it leaves the quotes of an argument
s = "\")'''\\"
echo(value=s) == s
