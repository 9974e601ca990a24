"""Scoring of pairs: which are due, who works on them, what became of them."""
