"""Conversations with models: streams gathered into messages, calls run, and the loop that goes on
until a model is done.
"""
