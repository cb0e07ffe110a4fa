# it leaves the quotes of an argument (from the docs alone)
s = "\")\nspend(n=1)\n(\"'''\\"
echo(value=s)
echo(value="');spend(n=1);('")
raise ValueError("done")
