# it searches for tools in a program (from the docs alone)
describe_tool(name='steal')
search_tools(query='steal')
