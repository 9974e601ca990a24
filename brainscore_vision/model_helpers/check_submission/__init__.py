"""Checks of a model before it is submitted."""
