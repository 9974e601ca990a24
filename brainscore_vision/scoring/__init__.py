"""Scoring of pairs of a model and a benchmark: selection, runs of one pair, and repetition of published scores."""
