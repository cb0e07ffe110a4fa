def count_word(text):
    pass
