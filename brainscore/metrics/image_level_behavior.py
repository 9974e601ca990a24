"""Behavioural consistency, image by image."""

from brainscore_core.domains import domain

__all__ = ["I1", "I2", "O1", "O2", "I1n", "I2n"]

I1, I1n, I2, I2n, O1, O2 = (domain().registries["metric"][name] for name in ("i1", "i1n", "i2", "i2n", "o1", "o2"))
