"""Name of ``brainscore_core.numerics.splits`` that is also imported from here."""

from brainscore_core.numerics.splits import shuffle_splits

__all__ = ["shuffle_splits"]
