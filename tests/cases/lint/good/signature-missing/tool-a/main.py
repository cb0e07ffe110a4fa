def count_words(text, limit=1, **more):
    pass
