def count_words():
    pass
