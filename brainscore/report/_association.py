"""Correlation of two benchmarks as text."""

from __future__ import annotations

from brainscore_core.numerics.correlation import Association

__all__ = ["association_text"]


def association_text(found: Association) -> str:
    """Write correlations for a figure.

    Examples
    --------
    >>> print(association_text(Association(9, 0.8, (0.287, 0.956), 0.75, (0.1, 0.95))))
    r = 0.80 [0.29, 0.96], n = 9
    ρ = 0.75 [0.10, 0.95]
    """
    lines = []
    for name, value, ci in (("r", found.pearson, found.pearson_ci), ("ρ", found.spearman, found.spearman_ci)):
        if value is not None:
            lines.append(f"{name} = {value:.2f}" + (f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else ""))
    first = f"{lines[0]}, n = {found.n}" if lines else f"n = {found.n}"
    return "\n".join([first, *lines[1:]]).replace("-", "−")
