def count_words(text: str = "a"):
    pass
