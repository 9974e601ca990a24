"""Subjects made from networks, word vectors, tables and containers."""
