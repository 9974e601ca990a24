"""Scoring of pairs: planning, workers and results."""
