def count_words(text: int):
    pass
