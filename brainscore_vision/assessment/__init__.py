"""What a score is worth: whether other reasonable analyses, models and data would tell the same.

Each module is imported by its name, as in ``from brainscore_vision.assessment.multiverse import multiverse``.
"""
