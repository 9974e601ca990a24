"""What a score on a benchmark is worth: its audit, baseline models, recovery of models, and other reasonable analyses.

Each part is a module: ``audit``, ``controls``, ``recovery``, ``multiverse``; ``tasks`` computes and stores the first
three, as ``brainscore assess`` does.
"""
