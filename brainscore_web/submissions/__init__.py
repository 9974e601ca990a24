"""Submissions of plugins: received, checked, tested, reviewed, published."""
