"""Submissions of plugins: receiving, checking, testing, review and publication."""
