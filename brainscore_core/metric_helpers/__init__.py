"""What metrics of all domains share: alignment, splits, regressions, geometries, and their intervals."""
