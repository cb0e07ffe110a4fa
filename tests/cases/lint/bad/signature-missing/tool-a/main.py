def count_words(text, limit):
    pass
