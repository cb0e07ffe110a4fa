def count_words(**all):
    pass
